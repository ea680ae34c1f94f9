import { createRandom, type SeededRandom } from '../../simulation/random.ts'
import type { Json } from './control-plane.ts'

/** Services and pods of one namespace at their creation, and their later changes. */
export interface Scene {
  readonly seed: number
  readonly namespace: string
  readonly services: readonly Json[]
  readonly pods: readonly { readonly object: Json; readonly status: Json }[]
  readonly changes: readonly Change[]
}

export type Change =
  | { readonly of: 'pods'; readonly name: string; readonly patch: Json; readonly subresource?: 'status' }
  | { readonly of: 'services'; readonly name: string; readonly patch: Json }
  | { readonly of: 'pods'; readonly name: string; readonly remove: true }

const OLD_ANNOTATION = 'service.alpha.kubernetes.io/tolerate-unready-endpoints'
export const GATE = 'example.org/traffic'
/** The names of the nodes. The third node does not exist. */
const NODES = ['node-a', 'node-b', 'node-gone'] as const
const NODE_ADDRESSES: Record<string, [string, string]> = {
  'node-a': ['10.1.0.1', 'fd00:1::1'],
  'node-b': ['10.1.0.2', 'fd00:1::2'],
  'node-gone': ['10.1.0.3', 'fd00:1::3'],
}
const ZONES: Record<string, string> = { 'node-a': 'zone-1' }

export const nodes: readonly Json[] = ['node-a', 'node-b'].map((name) => ({
  metadata: { name, labels: ZONES[name] === undefined ? {} : { 'topology.kubernetes.io/zone': ZONES[name] } },
}))

const PORTS = [
  { name: 'web', port: 80, targetPort: 'http', appProtocol: 'kubernetes.io/h2c' },
  { name: 'plain', port: 81, targetPort: 8081 },
  { name: 'dns', port: 53, targetPort: 'dns', protocol: 'UDP' },
  { name: 'admin', port: 82, targetPort: 'admin' },
  { name: 'setup', port: 83, targetPort: 'setup' },
  { name: 'same', port: 84 },
]

export function createScene(seed: number): Scene {
  const random = createRandom(seed, 'endpoints')
  const namespace = `scene-${seed}`
  const services = times(random.integer(1, 3), (index) => service(random, `svc-${index}`))
  const pods = times(random.integer(2, 8), (index) => pod(random, `pod-${index}`, index))
  const changes = times(random.integer(2, 6), () => change(random, services, pods))
  return { seed, namespace, services, pods, changes }
}

function times<One>(count: number, make: (index: number) => One): One[] {
  return Array.from({ length: count }, (_, index) => make(index))
}

function maybe(random: SeededRandom, probability: number, value: () => object): object {
  return random.chance(probability) ? value() : {}
}

function service(random: SeededRandom, name: string): Json {
  const annotations = maybe(random, 0.4, () => ({ annotations: { [OLD_ANNOTATION]: 'true' } }))
  const labels = maybe(random, 0.4, () => ({ labels: { team: 'shop' } }))
  if (random.chance(0.05)) {
    return { metadata: { name }, spec: { type: 'ExternalName', externalName: 'example.org', selector: { app: 'a' } } }
  }
  const isHeadless = random.chance(0.4)
  const ports = PORTS.filter(() => random.chance(0.35))
  if (ports.length === 0 && !(isHeadless && random.chance(0.7))) ports.push(random.pick(PORTS))
  const [single] = ports
  const families = random.pick([['IPv4'], ['IPv4'], ['IPv6'], ['IPv4', 'IPv6'], ['IPv6', 'IPv4']])
  return {
    metadata: { name, ...annotations, ...labels },
    spec: {
      ...selector(random),
      ...(isHeadless ? { clusterIP: 'None' } : {}),
      ...maybe(random, 0.25, () => ({ publishNotReadyAddresses: true })),
      ipFamilies: families,
      ipFamilyPolicy: families.length === 2 ? 'RequireDualStack' : 'SingleStack',
      ports: ports.length === 1 && random.chance(0.3) ? [{ ...single, name: undefined }] : ports,
    },
  }
}

function selector(random: SeededRandom): object {
  if (random.chance(0.05)) return {}
  if (random.chance(0.05)) return { selector: {} }
  return { selector: { app: random.pick(['a', 'a', 'a', 'b']), ...maybe(random, 0.15, () => ({ tier: 'front' })) } }
}

function pod(random: SeededRandom, name: string, index: number): { object: Json; status: Json } {
  const nodeName = random.chance(0.06) ? NODES[2] : random.pick(NODES.slice(0, 2))
  const isOnHost = random.chance(0.15)
  const hasGate = random.chance(0.25)
  const object = {
    metadata: {
      name,
      labels: { app: random.pick(['a', 'a', 'a', 'b']), ...maybe(random, 0.5, () => ({ tier: random.pick(['front', 'back']) })) },
      ...maybe(random, 0.2, () => ({ finalizers: ['example.org/hold'] })),
    },
    spec: {
      nodeName,
      ...(isOnHost ? { hostNetwork: true } : {}),
      ...maybe(random, 0.4, () => ({ hostname: `host-${index}`, ...maybe(random, 0.8, () => ({ subdomain: 'svc-0' })) })),
      ...(hasGate ? { readinessGates: [{ conditionType: GATE }] } : {}),
      restartPolicy: random.pick(['Always', 'Always', 'Never', 'OnFailure']),
      ...maybe(random, 0.5, () => ({ initContainers: initContainers(random) })),
      containers: containers(random),
    },
  }
  const own: [string, string] = [`10.2.0.${index + 1}`, random.chance(0.2) ? `FD00:2::${index + 1}` : `fd00:2::${index + 1}`]
  const [v4, v6] = isOnHost ? NODE_ADDRESSES[nodeName]! : own
  const ips = random.chance(0.1) ? [] : random.pick([[v4], [v4, v6], [v4, v6], [v6, v4], [v6]])
  return { object, status: { ...addresses(ips), ...running(random, hasGate) } }
}

function addresses(ips: readonly string[]): object {
  return ips.length === 0 ? {} : { podIP: ips[0], podIPs: ips.map((ip) => ({ ip })) }
}

function containers(random: SeededRandom): Json[] {
  const web = random.chance(0.8) ? [{ name: 'http', containerPort: random.pick([8080, 8080, 9090]) }] : []
  const dns = random.chance(0.7) ? [{ name: 'dns', containerPort: 5353, protocol: random.pick(['UDP', 'UDP', 'TCP']) }] : []
  return [
    { name: 'app', image: 'app:v1', ports: [...web, ...dns] },
    ...(random.chance(0.3) ? [{ name: 'side', image: 'side:v1', ports: [{ name: 'admin', containerPort: 9001 }] }] : []),
  ]
}

function initContainers(random: SeededRandom): Json[] {
  return [
    { name: 'prepare', image: 'prepare:v1', ports: [{ name: 'setup', containerPort: 7000 }] },
    ...(random.chance(0.6)
      ? [{ name: 'proxy', image: 'proxy:v1', restartPolicy: 'Always', ports: [{ name: 'admin', containerPort: 9002 }] }]
      : []),
  ]
}

/** Returns the status as a kubelet, or the node lifecycle controller, writes it. */
function running(random: SeededRandom, hasGate: boolean): object {
  const areReady = random.chance(0.7)
  const isGateOpen = random.chance(0.5)
  const byNode = random.chance(0.12)
  const isReady = areReady && (!hasGate || isGateOpen) && !byNode
  const why = areReady ? (hasGate && !isGateOpen ? { reason: 'ReadinessGatesNotReady' } : {}) : { reason: 'ContainersNotReady' }
  const conditions = [
    { type: 'ContainersReady', status: areReady ? 'True' : 'False' },
    ...(random.chance(0.08)
      ? []
      : [{ type: 'Ready', status: isReady ? 'True' : random.pick(['False', 'False', 'Unknown']), ...(isReady ? {} : why) }]),
    ...(hasGate && random.chance(0.8) ? [{ type: GATE, status: isGateOpen ? 'True' : 'False' }] : []),
  ]
  const state = areReady ? { running: {} } : { waiting: { reason: 'CrashLoopBackOff' } }
  const image = { image: 'app:v1', imageID: '', restartCount: 0 }
  return {
    phase: random.chance(0.1) ? random.pick(['Succeeded', 'Failed']) : 'Running',
    conditions,
    ...maybe(random, 0.7, () => ({ containerStatuses: [{ name: 'app', ready: areReady, state, ...image }] })),
  }
}

function change(random: SeededRandom, services: readonly Json[], pods: Scene['pods']): Change {
  const { object } = random.pick(pods)
  const { name } = object.metadata as { name: string }
  const hasGate = object.spec.readinessGates !== undefined
  if (random.chance(0.35)) return { of: 'pods', name, remove: true }
  if (random.chance(0.3)) return { of: 'pods', name, patch: { metadata: { labels: { app: random.pick(['a', 'b']) } } } }
  if (random.chance(0.3)) {
    const own = random.pick(services)
    if (own.spec.type === 'ExternalName' || Object.keys(own.spec.selector ?? {}).length === 0)
      return change(random, services, pods)
    const spec = random.chance(0.5)
      ? { publishNotReadyAddresses: random.chance(0.5) }
      : { selector: { app: random.pick(['a', 'b', 'none']) } }
    return {
      of: 'services',
      name: own.metadata.name,
      patch: { spec, metadata: { labels: { team: random.pick(['shop', 'edge']) } } },
    }
  }
  return { of: 'pods', name, patch: { status: running(random, hasGate) }, subresource: 'status' }
}
