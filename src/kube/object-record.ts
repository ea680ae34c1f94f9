/** The fields of every record, by which the reflector tells objects and versions apart. */
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
