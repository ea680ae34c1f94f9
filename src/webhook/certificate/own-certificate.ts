import { isConflict, isNotFound } from '../../kube/errors.ts'
import type { KubeClient } from '../../kube/client.ts'
import { pause } from '../../kube/pause.ts'
import type { Leader } from '../../leadership/leader.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Certificate, CertificateSource } from '../../server/certificate.ts'
import { readTrusted, type TrustedAuthorities, trusts, writeTrusted } from './ca-bundle.ts'
import { BACKDATED_MS, issue, makeAuthority } from './issue.ts'
import { planRotation, type RotationSettings, type RotationStep } from './plan-rotation.ts'
import { factsOf, isIssuedBy, readSecret, secretData, type StoredCertificates } from './stored-certificates.ts'

export interface OwnCertificateOptions extends Partial<Omit<RotationSettings, 'names'>> {
  client: KubeClient
  clock: Clock
  namespace: string
  /** The name of the Secret that the replicas share. */
  secret: string
  /** The name of the MutatingWebhookConfiguration whose `caBundle` is kept right. */
  configuration: string
  /** The DNS names and IP addresses of the server. */
  names: readonly string[]
  leader: Pick<Leader, 'isLeader' | 'assertLeader'>
  /** Between two looks at the Secret and the configuration. Default: 10 s. */
  everyMs?: number
  signal: AbortSignal
  onEvent(event: CertificateEvent): void
}

export type CertificateEvent =
  /** The Secret was not there, or had no usable content, and got new certificates. */
  | { readonly type: 'certificates-made'; readonly secret: string; readonly because: 'missing' | 'unusable' }
  /** The Secret was deleted or edited, and got the certificates in use again. */
  | { readonly type: 'certificates-restored'; readonly secret: string; readonly because: 'missing' | 'unusable' }
  | { readonly type: 'certificates-rotated'; readonly step: RotationStep }
  | { readonly type: 'ca-bundle-written'; readonly configuration: string; readonly authorities: number }
  /** Told once for each error in a row of equal ones. */
  | { readonly type: 'certificate-trouble'; readonly error: Error }

/** A certificate of the webhook's own authority. */
export interface OwnCertificate extends CertificateSource {
  /** Resolves after the signal, once nothing is written any more. */
  readonly ended: Promise<void>
}

const DAY_MS = 86_400_000
const DEFAULTS = { overlapMs: 600_000, authorityValidMs: 365 * DAY_MS, serverValidMs: 90 * DAY_MS, everyMs: 10_000 }
const TRY_AGAIN_MS = 500

/**
 * Reads or makes the certificates, and keeps them: in the Secret, in the configuration, and in the servers. Every replica follows the
 * Secret and makes a missing one, since a create meets no other. The leader alone rotates, and writes the configuration.
 * Resolves with the first certificate; rejects only by the signal.
 */
export async function openOwnCertificate(options: OwnCertificateOptions): Promise<OwnCertificate> {
  const { client, clock, namespace, secret, configuration, leader, signal, onEvent } = options
  const settings = { ...DEFAULTS, ...options }
  const path = `/api/v1/namespaces/${namespace}/secrets`
  const listeners = new Set<(certificate: Certificate) => void>()
  const first = Promise.withResolvers<Certificate>()
  /** The certificates that this process has used or seen last, for a Secret that somebody spoils. */
  let known: StoredCertificates | undefined
  let inUse: Certificate | undefined
  /** The error of the last look, and of this one. */
  let [told, trouble]: (string | undefined)[] = []

  async function look(): Promise<void> {
    const found = await client.get(`${path}/${secret}`, { signal }).catch((error: unknown) => {
      if (isNotFound(error)) return undefined
      throw error
    })
    const stored = readSecret(found) ?? (await mend(found))
    if (stored === undefined) return
    known = stored
    const trusted = await readConfiguration()
    take(stored, trusted)
    if (leader.isLeader()) await keep(stored, found, trusted)
  }

  /** Gives a Secret that is missing or spoilt its content. */
  async function mend(found: unknown): Promise<StoredCertificates | undefined> {
    const because = found === undefined ? 'missing' : 'unusable'
    if (because === 'unusable' && !leader.isLeader()) return undefined
    const contents = known ?? (await makeAll())
    if (found === undefined) await create(contents)
    else await replace(contents, found)
    onEvent({ type: known === undefined ? 'certificates-made' : 'certificates-restored', secret, because })
    return contents
  }

  async function makeAll(): Promise<StoredCertificates> {
    const nowAt = clock.wallNow()
    const authority = await makeAuthority({ nowAt, validMs: settings.authorityValidMs })
    const server = await issue(authority, settings.names, { nowAt, validMs: settings.serverValidMs })
    return { authorities: [authority.cert], authorityKey: authority.key, server }
  }

  /** The certificates of another replica may be there first: then the create conflicts, and the next look reads them. */
  async function create(contents: StoredCertificates): Promise<void> {
    const metadata = { name: secret, namespace, labels: { 'app.kubernetes.io/managed-by': 'sluice' } }
    await client.create(path, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata,
      type: 'kubernetes.io/tls',
      data: secretData(contents),
    })
  }

  async function replace(contents: StoredCertificates, found: unknown): Promise<void> {
    const body = { ...(found as object), data: secretData(contents) }
    await client.replace(`${path}/${secret}`, body, { beforeSend: () => leader.assertLeader() })
  }

  /** Undefined where the configuration is missing, as before its first apply. */
  async function readConfiguration(): Promise<TrustedAuthorities | undefined> {
    try {
      return await readTrusted(client, configuration)
    } catch (error) {
      report(error as Error)
      return undefined
    }
  }

  /** Serves the certificate of the Secret, once the API server trusts its authority. */
  function take({ authorities, server }: StoredCertificates, trusted: TrustedAuthorities | undefined): void {
    if (server.cert === inUse?.cert) return
    const issuer = authorities.find((authority) => isIssuedBy(server.cert, authority))!
    const isUseless = inUse === undefined || inUse.endsAt <= clock.wallNow()
    if (!isUseless && trusted !== undefined && !trusts(trusted, issuer)) return
    inUse = { ...server, endsAt: factsOf(server.cert).endsAt }
    first.resolve(inUse)
    for (const renewed of listeners) renewed(inUse)
  }

  /** The work of the leader: at most one step of the rotation, and the configuration. */
  async function keep(stored: StoredCertificates, found: unknown, trusted: TrustedAuthorities | undefined): Promise<void> {
    if (trusted !== undefined && trusted.webhooks.length > 0) {
      const wanted = wantedAuthorities(stored, trusted)
      const isWritten = await writeTrusted(client, configuration, trusted, wanted, () => leader.assertLeader())
      if (isWritten) onEvent({ type: 'ca-bundle-written', configuration, authorities: wanted.length })
    }
    const isTrusted = trusted === undefined || trusts(trusted, stored.authorities[0]!)
    const step = planRotation(stored, settings, clock.wallNow(), isTrusted)
    // A Secret that was made in this look is read again in the next one.
    if (step === undefined || found === undefined) return
    await replace(await stepped(step, stored), found)
    onEvent({ type: 'certificates-rotated', step })
  }

  /** After a loss of the Secret, another replica still has a certificate of an authority that was trusted until now. */
  function wantedAuthorities({ authorities }: StoredCertificates, { webhooks }: TrustedAuthorities): readonly string[] {
    const isYoung = clock.wallNow() - factsOf(authorities[0]!).beginsAt - BACKDATED_MS < settings.overlapMs
    const others = webhooks.flatMap((one) => one.authorities).filter((one) => !authorities.includes(one) && isValid(one))
    return isYoung ? [...authorities, ...new Set(others)] : authorities
  }

  function isValid(authority: string): boolean {
    try {
      return factsOf(authority).endsAt > clock.wallNow()
    } catch {
      return false
    }
  }

  async function stepped(step: RotationStep, stored: StoredCertificates): Promise<StoredCertificates> {
    const nowAt = clock.wallNow()
    const [newest] = stored.authorities as [string, ...string[]]
    switch (step) {
      case 'add-authority': {
        const authority = await makeAuthority({ nowAt, validMs: settings.authorityValidMs })
        return { ...stored, authorities: [authority.cert, ...stored.authorities], authorityKey: authority.key }
      }
      case 'issue-server': {
        const validity = { nowAt, validMs: settings.serverValidMs }
        return { ...stored, server: await issue({ cert: newest, key: stored.authorityKey }, settings.names, validity) }
      }
      case 'drop-authorities':
        return { ...stored, authorities: [newest] }
    }
  }

  function report(error: Error): void {
    trouble = error.message
    if (trouble !== told && !signal.aborted) onEvent({ type: 'certificate-trouble', error })
  }

  async function follow(): Promise<void> {
    while (!signal.aborted) {
      let isSoon = false
      trouble = undefined
      try {
        await look()
      } catch (error) {
        // Another replica was first: its certificates are there.
        isSoon = isConflict(error)
        if (!isSoon) report(error as Error)
      }
      told = trouble
      const waitMs = isSoon || inUse === undefined ? Math.min(TRY_AGAIN_MS, settings.everyMs) : settings.everyMs
      if (!signal.aborted) await pause(clock, waitMs, signal)
    }
  }

  const ended = follow()
  void ended.then(() => first.reject(signal.reason))
  await first.promise
  return {
    current: () => inUse!,
    follow(renewed) {
      listeners.add(renewed)
      return () => listeners.delete(renewed)
    },
    ended,
  }
}
