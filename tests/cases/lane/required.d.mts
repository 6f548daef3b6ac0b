/** The ids of the fault cases that this clone must hold, in order. */
export declare const required: readonly string[];
