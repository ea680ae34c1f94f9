import type { Command } from '../../../reasons/command.ts'
import type { LoadBalancerEntry, EntryReading, NamedImage } from '../../../reasons/fields.ts'
import type { Kept, ReasonOf } from '../../../reasons/reason.ts'

/** At least one sample of each code. */
export type SamplesOf<Fields> = {
  readonly [C in keyof Fields]: readonly [Readonly<Fields[C]> & Kept, ...(Readonly<Fields[C]> & Kept)[]]
}

export const WEB = 'statefulset/web'
export const RUN = 'wgnbiszr2y'
export const EARLIER_RUN = 'k3v9q0m1xz'
export const HOLDER = 'ci-runner-7_4711_tqjtfp'
export const LEASE = 'sluice-statefulset-web'
export const AT = '2026-11-21T10:17:53.120Z'

export const NEW_IMAGES: NamedImage[] = [{ container: 'app', image: 'registry.example/app:v2' }]
export const OLD_IMAGES: NamedImage[] = [{ container: 'app', image: 'registry.example/app:v1' }]

export const EDGE: LoadBalancerEntry = { loadBalancer: 'edge', target: 'web/web-0@10.0.0.1:80' }
export const INNER: LoadBalancerEntry = { loadBalancer: 'inner', target: 'pool/10.0.0.1:80' }
export const IN: EntryReading = { ...EDGE, admin: 'in', inFlight: 4 }
export const OUT: EntryReading = { ...EDGE, admin: 'out', inFlight: 0 }

/** A cause of each kind. */
export const NO_ANSWER: ReasonOf<'api-error'> = { code: 'api-error', kind: 'timeout', said: 'the API server did not answer' }
export const FORBIDDEN: ReasonOf<'api-error'> = {
  code: 'api-error',
  kind: 'forbidden',
  status: 403,
  said: 'pods "web-0" is forbidden',
}
export const REFUSED: ReasonOf<'load-balancer-error'> = {
  code: 'load-balancer-error',
  adapter: 'haproxy',
  kind: 'rejected',
  said: 'edge: no such server',
}
export const READ_AS_IN: ReasonOf<'entries-read'> = { code: 'entries-read', entries: [IN] }
export const READ_AS_OUT: ReasonOf<'entries-read'> = { code: 'entries-read', entries: [OUT] }
export const IMAGE_NOT_PULLED: ReasonOf<'container-waiting'> = {
  code: 'container-waiting',
  container: 'app',
  waiting: 'ImagePullBackOff',
  said: 'Back-off pulling image "registry.example/app:v2"',
}
/** The failure that sent a pod back to its former images. */
export const FAILED: ReasonOf<'restart-not-proven'> = { code: 'restart-not-proven', because: { code: 'container-not-replaced' } }
export const TERMINATING: ReasonOf<'terminating'> = { code: 'terminating', dueAt: AT, finalizers: [] }

export const resolve = (traffic?: 'in' | 'out'): Extract<Command, { command: 'resolve' }> => ({
  command: 'resolve',
  namespace: 'shop',
  pod: 'web-0',
  ...(traffic === undefined ? {} : { traffic }),
})
export const resolveGone = (traffic: 'in' | 'out'): Extract<Command, { command: 'resolve' }> => ({
  ...resolve(traffic),
  gone: true,
})
export const kubectl = (...args: string[]): Extract<Command, { command: 'kubectl' }> => ({
  command: 'kubectl',
  namespace: 'shop',
  args,
})
