/** What every trimmed record keeps, so that the reflector can tell objects and versions apart. */
export interface ObjectRecord {
  uid: string
  name: string
  namespace: string
  resourceVersion: string
}

export interface ReflectorEvent<R extends ObjectRecord> {
  type: 'added' | 'modified' | 'deleted'
  record: R
}
