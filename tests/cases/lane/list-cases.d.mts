/** Every case file with the id its name begins with, sorted. */
export declare function listCases(): { id: string; file: string }[];
