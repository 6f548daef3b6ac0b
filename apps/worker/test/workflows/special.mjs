// Code that only some workers have.
import { defineWorkflow } from "@mainstay/sdk";
import { node } from "./ledger.mjs";

const special = defineWorkflow({ id: "proof-special", version: "1", nodes: { only: node("only", () => ({ special: true })) } });

export const workflows = [special];
