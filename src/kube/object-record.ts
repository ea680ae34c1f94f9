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
  /**
   * True where no version of this object can have been missed since the event before it;
   * false for the first sight and after a relist. The witness rule needs to know.
   */
  continuous: boolean
}
