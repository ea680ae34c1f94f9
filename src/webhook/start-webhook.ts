import { controllerRules } from '../endpoints/controller-rules.ts'
import { freezeFixedIn, numbersOfVersion } from '../endpoints/frozen-updates.ts'
import type { KubeClient } from '../kube/client.ts'
import { stringField } from '../kube/json.ts'
import { pause } from '../kube/pause.ts'
import { electLeader, type Leader } from '../leadership/leader.ts'
import type { Clock } from '../ports/clock.ts'
import type { Random } from '../ports/random.ts'
import type { CertificateFiles } from '../server/certificate.ts'
import { LIMITS } from '../server/limits.ts'
import { serve, type ServerEvent } from '../server/serve.ts'
import type { Answered } from './admission/admission-event.ts'
import type { AdmissionWarning } from './admission/admit.ts'
import { createPodWaits } from './admission/pod-waits.ts'
import { type AdmissionRoutesOptions, admissionRoutes } from './admission/routes.ts'
import {
  type CertificateEvent,
  openOwnCertificate,
  type OwnCertificate,
  type OwnCertificateOptions,
} from './certificate/own-certificate.ts'
import { type KindState, type LiveClusterView, openClusterView } from './cluster/open-cluster-view.ts'
import { decide } from './decide/decide.ts'
import { type SecondLookCounts, type SecondLooks, startSecondLooks } from './touch/second-looks.ts'
import type { TouchEvent } from './touch/touch-event.ts'
import type { RulesChange, RulesSource } from './sources/rules-source.ts'

export interface WebhookOptions extends Pick<AdmissionRoutesOptions, 'budgetMs' | 'busyMs'> {
  client: KubeClient
  clock: Clock
  random: Random
  /** HOST:PORT, [IPV6]:PORT, or :PORT for all addresses. */
  listen: string
  /** The namespaces that the webhook acts in. The rules cannot widen them. */
  namespaces: readonly string[]
  /** The namespace of the webhook itself, with its Lease and its Secret. */
  ownNamespace: string
  /** Files of a certificate, or the settings of one that the webhook makes itself. */
  certificate: CertificateFiles | OwnCertificateSettings
  /** The name of the Lease of the replicas. */
  lease: string
  /** The name of this replica, different for each process. */
  identity: string
  rules: RulesSource
  warningOf(warning: AdmissionWarning): string
  /** A stored object that is wrong for longer than this is rewritten. Default: 5 s. */
  touchGraceMs?: number
  /** The objects that are rewritten in a second. Default: 5. */
  touchRate?: number
  /** For so long the server says that it is not ready and still takes requests, before it closes. Default: 5 s. */
  leaveMs?: number
  /** A request that is not answered within this time after that is cut. Default: 10 s. */
  graceMs?: number
  signal: AbortSignal
  onEvent(event: WebhookEvent): void
}

export type OwnCertificateSettings = Pick<OwnCertificateOptions, 'secret' | 'configuration' | 'names'> &
  Partial<Pick<OwnCertificateOptions, 'everyMs' | 'overlapMs' | 'authorityValidMs' | 'serverValidMs'>>

export type WebhookEvent =
  | Answered
  | CertificateEvent
  | ServerEvent
  | { readonly type: 'rules'; readonly change: RulesChange }
  | { readonly type: 'kind'; readonly state: KindState }
  | TouchEvent
  | { readonly type: 'leading'; readonly isLeader: boolean }
  /** `fixedIn` is set where this version of Kubernetes freezes Endpoints whose update changes nothing. */
  | { readonly type: 'api-server-version'; readonly version: string; readonly fixedIn?: string }
  | { readonly type: 'listening'; readonly url: string }
  | { readonly type: 'certificate-in-use'; readonly endsAt: number }
  | { readonly type: 'leaving' }
  /** Told once for each error in a row of equal ones. */
  | { readonly type: 'trouble'; readonly part: 'lease' | 'cluster' | 'version'; readonly error: Error }

export type WebhookNotReady =
  | { readonly code: 'leaving' }
  | { readonly code: 'rules-missing'; readonly problem: string | undefined }
  | { readonly code: 'not-listed'; readonly kind: string; readonly namespace: string | undefined }
  /** The objects have not been current for minutes. Writes in the namespace are left as they are. */
  | { readonly code: 'stale'; readonly kind: string; readonly namespace: string }

export interface Webhook {
  readonly url: string
  readonly view: LiveClusterView
  readonly leader: Leader
  /** What second looks at stored objects have found and have yet to do. */
  secondLooks(): SecondLookCounts
  /** The reasons why the webhook does not decide yet, or any more. */
  notReady(): readonly WebhookNotReady[]
  /** Resolves after the signal, once the requests under way are answered and the Lease is given back. */
  readonly ended: Promise<void>
}

const LEAVE_MS = 5_000
const VERSION_EVERY_MS = 300_000
const VERSION_AGAIN_MS = 5_000
/** Unauthenticated callers may open connections. The API servers of a cluster need fewer than these. */
const CONNECTIONS = 512
/** An API server sends a review at once, and a slower client only holds a connection. */
const SLOWEST_MS = 3_000

/**
 * Starts the webhook: the view of the cluster, the Lease, the certificate and the server. Resolves once the server listens, and rejects
 * with a ServerError, or with the reason of the signal.
 */
export async function startWebhook(options: WebhookOptions): Promise<Webhook> {
  const { client, clock, random, rules, ownNamespace: namespace, signal, onEvent } = options
  const scope = { namespaces: new Set(options.namespaces), own: namespace }
  /** The work goes on while the server leaves. */
  const working = new AbortController()
  let isLeaving = false
  const troubles = new Map<string, string>()
  const trouble =
    (part: 'lease' | 'cluster' | 'version') =>
    (error: Error): void => {
      if (troubles.get(part) === error.message || working.signal.aborted) return
      troubles.set(part, error.message)
      onEvent({ type: 'trouble', part, error })
    }

  let looks: SecondLooks | undefined
  const view = openClusterView({
    client,
    clock,
    random,
    namespaces: scope.namespaces,
    signal: working.signal,
    onChange: (services, change) => looks?.onChange(services, change),
    onPod: (...change) => waits.onPod(...change),
    onState: (state) => onEvent({ type: 'kind', state }),
    onError: trouble('cluster'),
  })
  const waits = createPodWaits({ clock, cluster: view })
  rules.onChange((change) => {
    onEvent({ type: 'rules', change })
    if (change.code === 'rules-accepted') looks?.onRules()
  })
  const leader = electLeader({
    client,
    clock,
    random,
    namespace,
    name: options.lease,
    identity: options.identity,
    signal: working.signal,
    onChange(isLeader) {
      onEvent({ type: 'leading', isLeader })
      looks?.onLeading()
    },
    onError: trouble('lease'),
    // A touch that is under way ends before another replica may lead.
    beforeRelease: async () => looks?.ended,
  })
  /** Until the version is known, an update is moved on, which does no harm. */
  let mayFreeze = true
  let minor: number | undefined
  const versioned = followVersion(client, clock, working.signal, trouble('version'), (version) => {
    const fixedIn = freezeFixedIn(numbersOfVersion(version))
    mayFreeze = fixedIn !== undefined
    minor = numbersOfVersion(version).minor
    onEvent({ type: 'api-server-version', version, ...(fixedIn !== undefined && { fixedIn }) })
  })

  looks = startSecondLooks({
    client,
    clock,
    random,
    view,
    rules: () => rules.current(),
    decide,
    leader,
    controllers: () => (minor === undefined ? undefined : controllerRules(minor)),
    ...(options.touchGraceMs !== undefined && { graceMs: options.touchGraceMs }),
    ...(options.touchRate !== undefined && { rate: options.touchRate }),
    onEvent,
    signal: working.signal,
  })
  const { counts, ended: looked } = looks

  function notReady(): readonly WebhookNotReady[] {
    const unlisted = view.states().filter(({ is }) => is === 'listing')
    return [
      ...(isLeaving ? [{ code: 'leaving' } as const] : []),
      ...(rules.current() === undefined ? [{ code: 'rules-missing', problem: rules.problem()?.code } as const] : []),
      ...unlisted.map(({ kind, namespace: of }) => ({ code: 'not-listed', kind, namespace: of }) as const),
      ...options.namespaces.flatMap((of) => view.stale(of).map((kind) => ({ code: 'stale', kind, namespace: of }) as const)),
    ]
  }

  const { certificate } = options
  // Until the server listens, there are no requests to leave: the signal ends the work itself.
  const stopEarly = (): void => working.abort(signal.reason)
  signal.addEventListener('abort', stopEarly)
  if (signal.aborted) stopEarly()

  async function giveUp(reason: unknown, own?: OwnCertificate): Promise<never> {
    working.abort()
    await Promise.all([view.ended, leader.ended, own?.ended, versioned, looked])
    throw reason
  }
  const own =
    'certFile' in certificate
      ? undefined
      : await openOwnCertificate({ ...certificate, client, clock, namespace, leader, signal: working.signal, onEvent }).catch(
          (error: unknown) => giveUp(error),
        )
  const served = await serve({
    listen: options.listen,
    tls: 'certFile' in certificate ? certificate : own!,
    limits: { connections: CONNECTIONS, largestBodyBytes: LIMITS.largestBodyBytes, headersMs: SLOWEST_MS, requestMs: SLOWEST_MS },
    notReady,
    routes: admissionRoutes({
      ...options,
      scope,
      cluster: view,
      rules: () => rules.current(),
      isListed: () => view.isListed(),
      isStale: (of) => view.stale(of).length > 0,
      decide,
      waits,
      mayFreeze: () => mayFreeze,
      onAnswered: onEvent,
    }),
    onEvent(event) {
      if (event.type === 'certificateRenewed') onEvent({ type: 'certificate-in-use', endsAt: event.endsAt })
      onEvent(event)
    },
  }).catch((error: unknown) => giveUp(error, own))
  signal.removeEventListener('abort', stopEarly)
  onEvent({ type: 'listening', url: served.url })
  onEvent({ type: 'certificate-in-use', endsAt: served.certificateEndsAt! })

  async function run(): Promise<void> {
    await aborted(signal)
    isLeaving = true
    onEvent({ type: 'leaving' })
    // Those who route to the server learn first that it leaves.
    await pause(clock, options.leaveMs ?? LEAVE_MS)
    await served.close(options.graceMs === undefined ? {} : { graceMs: options.graceMs })
    working.abort()
    await Promise.all([view.ended, leader.ended, own?.ended, versioned, looked])
  }
  return { url: served.url, view, leader, secondLooks: counts, notReady, ended: run() }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}

/** Reads the version of the API server from time to time, since a cluster is upgraded while the webhook runs. */
async function followVersion(
  client: KubeClient,
  clock: Clock,
  signal: AbortSignal,
  failed: (error: Error) => void,
  changed: (version: string) => void,
): Promise<void> {
  let last: string | undefined
  while (!signal.aborted) {
    let isRead = false
    try {
      const version = stringField(await client.get('/version', { signal }), 'gitVersion')
      isRead = version !== undefined
      if (version !== undefined && version !== last) changed(version)
      last = version
    } catch (error) {
      failed(error as Error)
    }
    await pause(clock, isRead ? VERSION_EVERY_MS : VERSION_AGAIN_MS, signal)
  }
}
