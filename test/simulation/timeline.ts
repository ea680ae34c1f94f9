import type { HistoryEntry, TargetState } from './checker/history.ts'

interface Raw {
  metadata?: { name?: string; annotations?: Record<string, string>; generation?: number }
  spec?: { containers?: { name: string; image: string }[]; holderIdentity?: string; leaseTransitions?: number }
  status?: {
    observedGeneration?: number
    podIP?: string
    conditions?: { type: string; status: string; message?: string }[]
    containerStatuses?: {
      name: string
      containerID?: string
      image?: string
      ready?: boolean
      state?: Record<string, { reason?: string }>
    }[]
  }
  data?: Record<string, string>
}

/** Formats a history for a human reader: a line for each entry, with the changes of a write. */
export function timeline(history: readonly HistoryEntry[]): string {
  return history.map((entry) => `${(entry.at / 1000).toFixed(3).padStart(9)}  ${describe(entry)}`).join('\n')
}

function describe(entry: HistoryEntry): string {
  switch (entry.type) {
    case 'stored':
      return `${pad(entry.by)} ${entry.verb} ${entry.resource} ${change(entry.before as Raw | undefined, entry.after as Raw | undefined)}`
    case 'effect': {
      const { by, balancer, target, effect, operation, fence, accepted, before, after } = entry
      return `${pad(by)} ${effect.toUpperCase()} ${balancer}/${target} op ${operation.slice(0, 6)} fence ${fence}: ${accepted ? `${state(before)} → ${state(after)}` : 'refused'}`
    }
    case 'target':
      return `${pad(entry.by)} ${entry.balancer}/${entry.target}: ${state(entry.before)} → ${state(entry.after)}`
    case 'container':
      return `${pad('node')} ${entry.what} ${entry.container} ${entry.id.slice(-8)} ${entry.image} of ${entry.uid.slice(0, 8)} at ${entry.address}`
    case 'process': {
      const pods = entry.pods?.map(({ uid, outcome, reason }) => `\n${' '.repeat(22)}${uid.slice(0, 8)} ${outcome}: ${reason}`)
      return `${pad(entry.process)} ${entry.what}${entry.outcome === undefined ? '' : ` (${entry.outcome})`}${pods?.join('') ?? ''}`
    }
    case 'told':
      return `${pad(entry.process)} has told of ${entry.uid.slice(0, 8)}: ${entry.outcome}`
    case 'said':
      return `${pad(entry.process)} ${entry.words}`
    case 'fault':
      return `${pad('fault')} ${entry.fault} ${entry.detail}`.trimEnd()
    case 'silent':
      return `${pad(entry.process ?? '')} ${entry.balancer} does not answer for ${entry.forMs} ms`
    case 'forgot':
      return `${pad('')} ${entry.balancer} has forgotten what it has done`
    default:
      return `${pad('')} ${entry.type}`
  }
}

function pad(text: string): string {
  return text.padEnd(10)
}

function state(target: TargetState | null): string {
  if (target === null) return 'absent'
  const { address, admin, weight, routable, inFlight } = target
  return `${admin}/${weight} at ${address}${routable ? '' : ' (not routable)'}${inFlight > 0 ? ` ${inFlight} in flight` : ''}`
}

function change(before: Raw | undefined, after: Raw | undefined): string {
  const name = after?.metadata?.name ?? before?.metadata?.name ?? ''
  const [old, now] = [facts(before), facts(after)]
  const lines = [...new Set([...old.keys(), ...now.keys()])]
    .filter((key) => old.get(key) !== now.get(key))
    .map((key) => `${key} ${now.get(key) ?? '(none)'}`)
  return `${name}  ${lines.join(', ')}`
}

/** Returns the values of an object that the timeline shows. */
function facts(raw: Raw | undefined): Map<string, string> {
  const found = new Map<string, string>()
  const put = (key: string, value: unknown): void => void (value === undefined || found.set(key, String(value)))
  for (const { name, image } of raw?.spec?.containers ?? []) put(`spec ${name}`, image)
  put('generation', raw?.metadata?.generation)
  put('observed', raw?.status?.observedGeneration)
  put('IP', raw?.status?.podIP)
  for (const { name, containerID, image, ready, state: at } of raw?.status?.containerStatuses ?? []) {
    const [kind, detail] = Object.entries(at ?? {})[0] ?? []
    const standing = kind && `${kind}${detail?.reason === undefined ? '' : `:${detail.reason}`}`
    // A container that was never started has no ID.
    const id = containerID === undefined || containerID === '' ? undefined : containerID.slice(-8)
    put(name, [id, image, standing, `ready=${ready}`].filter((one) => one !== undefined).join(' '))
  }
  for (const { type, status, message } of raw?.status?.conditions ?? [])
    put(type, type.startsWith('sluice.dev/') ? journal(message) : status)
  for (const [key, value] of Object.entries(raw?.metadata?.annotations ?? {})) put(key, journal(value))
  for (const [key, value] of Object.entries(raw?.data ?? {}))
    put(`data.${key}`, typeof value === 'string' ? value.slice(0, 300) : '')
  put('holder', raw?.spec?.holderIdentity)
  put('epoch', raw?.spec?.leaseTransitions)
  return found
}

function journal(text: string | undefined): string {
  try {
    const { run, epoch, attempt, step, gen, fence } = JSON.parse(text ?? '') as Record<string, unknown>
    const said = Object.entries({ run, epoch, attempt, gen, fence }).filter(([, value]) => value !== undefined)
    return `{${[String(step), ...said.flat().map(String)].join(' ')}}`
  } catch {
    return text?.slice(0, 80) ?? ''
  }
}
