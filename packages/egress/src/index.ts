export { createEgress, type Egress, type EgressOptions } from "./create-egress.js";
export { classifyAnswer, type AnswerOverrides, type Settlement } from "./answer/classify-answer.js";
export { judgeAddress, parseRange, type AddressVerdict, type Range } from "./address/judge-address.js";
export { type Resolve } from "./address/resolve-target.js";
export { type EgressRequest } from "./request/egress-request.js";
export { type Answered, type AnswerHeaders, type EgressOutcome, type NotSent, type Unanswered } from "./request/outcome.js";
