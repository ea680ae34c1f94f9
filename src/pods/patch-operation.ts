/** One operation of a JSON Patch (RFC 6902). On the API server, `test` with the value null passes for a missing key of an existing map. */
export type PatchOperation = { op: 'test' | 'add' | 'replace'; path: string; value: unknown } | { op: 'remove'; path: string }
