import { X509Certificate } from 'node:crypto'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { systemClock } from '../../ports/system.ts'
import type { Certificate } from '../../server/certificate.ts'
import { type CertificateEvent, openOwnCertificate, type OwnCertificate, type OwnCertificateOptions } from './own-certificate.ts'
import { readSecret, splitPem } from './stored-certificates.ts'
import { type StoredObjects, storedObjects } from './testing/stored-objects.ts'

const [SECRET, CONFIGURATION] = ['sluice-webhook-certificate', 'sluice-webhook']
const DAY_MS = 86_400_000
const NAMES = ['sluice-webhook.sluice-system.svc', '127.0.0.1']

let objects: StoredObjects
let stopping: AbortController
let opened: OwnCertificate[]
let shiftMs: number
let events: CertificateEvent[]

beforeEach(() => {
  ;[objects, stopping, opened, shiftMs, events] = [storedObjects(), new AbortController(), [], 0, []]
  objects.put(CONFIGURATION, configuration())
})
afterEach(async () => {
  stopping.abort()
  await Promise.all(opened.map(({ ended }) => ended))
})

function configuration(caBundle?: string): object {
  const of = (name: string): object => ({ name, clientConfig: { service: {}, ...(caBundle !== undefined && { caBundle }) } })
  return { metadata: { name: CONFIGURATION }, webhooks: [of('endpoints.webhook.sluice.dev'), of('slices.webhook.sluice.dev')] }
}

interface Replica extends OwnCertificate {
  isLeader: boolean
  /** The certificates that it has served. */
  served: Certificate[]
  end(): Promise<void>
}

async function open(isLeader: boolean, options: Partial<OwnCertificateOptions> = {}): Promise<Replica> {
  const own = new AbortController()
  const replica = { isLeader, served: [] } as unknown as Replica
  const leads = {
    isLeader: () => replica.isLeader,
    assertLeader() {
      if (!replica.isLeader) throw new Error('no leader')
    },
  }
  const source = await openOwnCertificate({
    client: objects.client,
    clock: { ...systemClock, wallNow: () => Date.now() + shiftMs },
    namespace: 'sluice-system',
    secret: SECRET,
    configuration: CONFIGURATION,
    names: NAMES,
    leader: leads,
    everyMs: 10,
    overlapMs: DAY_MS,
    signal: AbortSignal.any([own.signal, stopping.signal]),
    onEvent: (event) => events.push(event),
    ...options,
  })
  opened.push(source)
  const served = [source.current()]
  source.follow((next) => served.push(next))
  return Object.assign(replica, source, {
    served,
    async end() {
      own.abort()
      await source.ended
    },
  })
}

const bundles = (): string[][] =>
  (objects.at(CONFIGURATION).webhooks as { clientConfig: { caBundle?: string } }[]).map(({ clientConfig }) =>
    splitPem(Buffer.from(clientConfig.caBundle ?? '', 'base64').toString()),
  )
/** Whether the API server would take what a replica serves now, at each of the webhooks. */
const isTaken = ({ current }: OwnCertificate): boolean =>
  bundles().every((authorities) =>
    authorities.some((one) => new X509Certificate(current().cert).verify(new X509Certificate(one).publicKey)),
  )
const types = (): string[] => events.map((event) => (event.type === 'certificates-rotated' ? event.step : event.type))

test('two replicas that start at once share one certificate, which the API server trusts', async () => {
  const [one, other] = await Promise.all([open(true), open(false)])
  expect(one.current()).toEqual(other.current())
  await expect.poll(() => isTaken(one)).toBe(true)
  const leaf = new X509Certificate(one.current().cert)
  expect([leaf.checkHost(NAMES[0]!), leaf.checkIP(NAMES[1]!)]).toEqual(NAMES)
  // The clocks of API servers may be an hour behind.
  expect(Date.now() - Date.parse(leaf.validFrom)).toBeGreaterThan(3_599_000)
  expect(one.current().endsAt - Date.now()).toBeGreaterThan(89 * DAY_MS)
  expect(objects.writes.filter(({ method }) => method === 'POST')).toHaveLength(1)
})

test('nothing is written while nothing is due', async () => {
  const one = await open(true)
  await expect.poll(() => isTaken(one)).toBe(true)
  const before = objects.writes.length
  await new Promise((resolve) => setTimeout(resolve, 200))
  expect(objects.writes).toHaveLength(before)
})

test('the certificate of the server is renewed by the same authority', async () => {
  const [one, other] = await Promise.all([open(true), open(false)])
  await expect.poll(() => isTaken(one)).toBe(true)
  shiftMs = 61 * DAY_MS
  await expect.poll(() => [one.served.length, other.served.length]).toEqual([2, 2])
  expect([isTaken(one), bundles()[0]!.length]).toEqual([true, 1])
})

test('an authority is followed by the next one without a moment in which a server is not trusted', async () => {
  const [one, other] = await Promise.all([open(true), open(false)])
  await expect.poll(() => isTaken(one)).toBe(true)
  const [first] = bundles()[0]!
  const untrusted: string[] = []
  const watching = setInterval(() => {
    if (!isTaken(one) || !isTaken(other)) untrusted.push(types().join())
  }, 1)
  try {
    shiftMs = 250 * DAY_MS
    await expect.poll(() => bundles()[0]!.length).toBe(2)
    // The server keeps its certificate, but for the renewal that was due, until the overlap is over.
    shiftMs += DAY_MS / 2
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect(types()).toContain('add-authority')
    shiftMs += DAY_MS
    await expect.poll(() => new X509Certificate(one.current().cert).verify(new X509Certificate(first!).publicKey)).toBe(false)
    await expect.poll(() => other.current().cert).toBe(one.current().cert)
    expect(bundles()[0]).toContain(first)
    shiftMs += 2 * DAY_MS
    await expect.poll(() => bundles()[0]!.length).toBe(1)
    expect(bundles()[0]).not.toContain(first)
  } finally {
    clearInterval(watching)
  }
  expect(untrusted).toEqual([])
  expect(types().filter((type) => type === 'add-authority')).toHaveLength(1)
})

test('the next leader goes on where the last one has stopped', async () => {
  const [one, other] = await Promise.all([open(true), open(false)])
  await expect.poll(() => isTaken(one)).toBe(true)
  shiftMs = 250 * DAY_MS
  await expect.poll(() => bundles()[0]!.length).toBe(2)
  await one.end()
  other.isLeader = true
  const third = await open(false)
  shiftMs += 4 * DAY_MS
  await expect.poll(() => types()).toContain('issue-server')
  shiftMs += 4 * DAY_MS
  await expect.poll(() => bundles()[0]!.length).toBe(1)
  expect([isTaken(other), isTaken(third)]).toEqual([true, true])
})

test.each<[string, (secret: { data: Record<string, string> }) => object | undefined, string]>([
  ['deleted', () => undefined, 'missing'],
  ['emptied', (secret) => ({ ...secret, data: {} }), 'unusable'],
  ['without data', ({ data: _data, ...secret }) => secret, 'unusable'],
  [
    'with the key of another',
    (secret) => ({ ...secret, data: { ...secret.data, 'tls.key': secret.data['ca.key'] } }),
    'unusable',
  ],
  ['with another authority', (secret) => ({ ...secret, data: { ...secret.data, 'ca.crt': secret.data['tls.crt'] } }), 'unusable'],
])('a Secret that is %s gets the certificates in use again, and no call fails', async (_, spoil, because) => {
  const [one, other] = await Promise.all([open(true), open(false)])
  await expect.poll(() => isTaken(one)).toBe(true)
  objects.put(SECRET, spoil(structuredClone(objects.at(SECRET))))
  await expect.poll(() => readSecret(objects.at(SECRET))?.server.cert).toBe(one.current().cert)
  await expect.poll(() => events).toContainEqual({ type: 'certificates-restored', secret: SECRET, because })
  expect([one.served.length, other.served.length, isTaken(one)]).toEqual([1, 1, true])
})

test('a Secret that is lost while no replica runs is made anew, and a replica with the old certificate stays trusted meanwhile', async () => {
  const [one, other] = await Promise.all([open(true), open(false, { everyMs: 100_000 })])
  await expect.poll(() => isTaken(one)).toBe(true)
  await one.end()
  objects.put(SECRET, undefined)
  const next = await open(true)
  expect(next.current().cert).not.toBe(other.current().cert)
  await expect.poll(() => isTaken(next)).toBe(true)
  expect(isTaken(other)).toBe(true)
  shiftMs = 2 * DAY_MS
  await expect.poll(() => bundles()[0]!.length).toBe(1)
  expect(isTaken(next)).toBe(true)
})

test('a bundle that somebody edits is put right, by the leader alone', async () => {
  const one = await open(true)
  await expect.poll(() => isTaken(one)).toBe(true)
  shiftMs = 2 * DAY_MS
  const right = bundles()
  one.isLeader = false
  objects.put(CONFIGURATION, configuration(Buffer.from('what').toString('base64')))
  await new Promise((resolve) => setTimeout(resolve, 100))
  expect(bundles()).toEqual([[], []])
  one.isLeader = true
  await expect.poll(() => bundles()).toEqual(right)
})

test('a configuration that comes late is told once, and gets the bundle then', async () => {
  objects.put(CONFIGURATION, undefined)
  const one = await open(true)
  await new Promise((resolve) => setTimeout(resolve, 100))
  expect(types()).toEqual(['certificates-made', 'certificate-trouble'])
  objects.put(CONFIGURATION, configuration())
  await expect.poll(() => isTaken(one)).toBe(true)
})

test('a server with another name gets a certificate that has it', async () => {
  const one = await open(true)
  await expect.poll(() => isTaken(one)).toBe(true)
  await one.end()
  const next = await open(true, { names: [...NAMES, 'webhook.example'] })
  await expect.poll(() => new X509Certificate(next.current().cert).checkHost('webhook.example')).toBeDefined()
  expect(isTaken(next)).toBe(true)
})
