/** Annotation of an EndpointSlice: the comma-separated addresses of the endpoints that sluice itself has drained in this slice. */
export const DRAINED_ADDRESSES = 'sluice.dev/drained'

export function drainedAddresses(annotations: Readonly<Record<string, string>> | null | undefined): ReadonlySet<string> {
  return new Set((annotations?.[DRAINED_ADDRESSES] ?? '').split(',').filter((address) => address !== ''))
}
