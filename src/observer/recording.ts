import type { ObservedEvent } from './events.ts'
import type { ObserverOptions } from './observer.ts'

export const RECORDING_VERSION = 'sluice.dev/v1'

/** The first line of a recording, which has the options of the observation. Each further line is an event. All lines are JSON. */
export interface RecordingHeader extends ObserverOptions {
  apiVersion: typeof RECORDING_VERSION
  kind: 'ObserverRecording'
}

/** The file is no recording, or has another version, or has a line that is no event. */
export class RecordingError extends Error {
  override readonly name = 'RecordingError'
  readonly component = 'observer'
  readonly problem: 'no-recording' | 'other-version' | 'no-event'
  readonly line: number
  constructor(problem: RecordingError['problem'], line: number, options: { cause?: unknown } = {}) {
    super(`${problem} ${line}`, options)
    this.problem = problem
    this.line = line
  }
}

export function recordingHeader(options: ObserverOptions): RecordingHeader {
  return { apiVersion: RECORDING_VERSION, kind: 'ObserverRecording', ...options }
}

/** @throws RecordingError */
export function parseHeader(text: string): ObserverOptions {
  const value = jsonOf(text)
  if (isOfKind(value) && value.apiVersion !== RECORDING_VERSION) throw new RecordingError('other-version', 1)
  if (!isHeader(value)) throw new RecordingError('no-recording', 1)
  const { clusters, allNamespaces, graceMs, startedAt } = value
  return { clusters, allNamespaces, graceMs, startedAt }
}

/**
 * Parses the lines after the first. A last line that a process has left half written is left out, and so are events of unknown types, which
 * a newer sluice may write: `onUnknown` is called with the type of each. Throws a RecordingError.
 */
export async function* parseEvents(
  lines: AsyncIterable<string> | Iterable<string>,
  onUnknown: (type: string) => void,
): AsyncGenerator<ObservedEvent> {
  let line = 1
  let broken: number | undefined
  for await (const text of lines) {
    line += 1
    if (text === '') continue
    if (broken !== undefined) throw new RecordingError('no-event', broken)
    const value = jsonOf(text)
    const type = typeOf(value)
    if (type !== undefined && !Object.hasOwn(BODIES, type)) onUnknown(type)
    else if (isEvent(value)) yield value
    else broken = line
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function isOfKind(value: unknown): value is { kind: 'ObserverRecording'; apiVersion?: unknown } {
  return typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'ObserverRecording'
}

function isHeader(value: unknown): value is RecordingHeader {
  if (!isOfKind(value)) return false
  const { clusters, allNamespaces, graceMs, startedAt } = value as Partial<RecordingHeader>
  const areNames = Array.isArray(clusters) && clusters.every((one) => typeof one === 'string')
  return areNames && typeof allNamespaces === 'boolean' && typeof graceMs === 'number' && typeof startedAt === 'number'
}

const BODIES: Readonly<Record<ObservedEvent['type'], readonly string[]>> = {
  pod: ['cluster', 'pod'],
  'pod-gone': ['cluster', 'uid'],
  node: ['cluster', 'node'],
  'node-gone': ['cluster', 'name'],
  service: ['cluster', 'service'],
  'service-gone': ['cluster', 'namespace', 'name'],
  endpoints: ['cluster', 'endpoints'],
  'endpoints-gone': ['cluster', 'uid'],
  synced: ['cluster'],
  unread: ['cluster', 'what', 'because'],
  read: ['cluster', 'what'],
  unreachable: ['cluster', 'because'],
  reached: ['cluster'],
  'manager-metrics': ['cluster', 'queued', 'puts'],
  'manager-metrics-unread': ['cluster', 'because'],
  entry: ['loadBalancer', 'entry'],
  'entry-gone': ['loadBalancer', 'id'],
  'load-balancer-read': ['loadBalancer'],
  'load-balancer-unread': ['loadBalancer', 'because'],
  end: [],
}

/** Returns the type of a value that has an instant and a type. */
function typeOf(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || !('at' in value) || typeof value.at !== 'number') return undefined
  return 'type' in value && typeof value.type === 'string' ? value.type : undefined
}

/** Checks the type and the names of the fields alone. The content of the fields was checked before it was written. */
function isEvent(value: unknown): value is ObservedEvent {
  const type = typeOf(value)
  return type !== undefined && BODIES[type as ObservedEvent['type']].every((part) => part in (value as object))
}
