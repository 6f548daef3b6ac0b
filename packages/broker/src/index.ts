export { createTicketPublisher, type TicketPublisher } from "./tickets/create-ticket-publisher.js";
export { createTicketConsumer, type TicketConsumer } from "./tickets/create-ticket-consumer.js";
export type { TicketConsumerOptions } from "./tickets/ticket-consumer-options.js";
export { type BadTicketReason } from "./tickets/read-ticket.js";
export { mostRuns as mostRunsPerTicket } from "./tickets/ticket.js";
export { brokerFaults, type BrokerFault } from "./connection/broker-fault.js";
export { type BrokerPlace, type BrokerReports } from "./connection/connect-redis.js";
