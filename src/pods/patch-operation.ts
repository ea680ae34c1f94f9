/** One operation of a JSON Patch (RFC 6902); `test` with value null passes for a missing key of an existing map. */
export type PatchOperation = { op: 'test' | 'add' | 'replace'; path: string; value: unknown } | { op: 'remove'; path: string }
