import type { ObservedEvent } from './events.ts'
import type { ObserverOptions } from './observer.ts'

/** A file of observed events: a line that says what was observed, and one for each event. All lines are JSON. */
export interface RecordingHeader extends ObserverOptions {
  apiVersion: 'sluice.dev/v1'
  kind: 'ObserverRecording'
}

/** A file is no recording, or a line of it no event. */
export class RecordingError extends Error {
  override readonly name = 'RecordingError'
  readonly component = 'observer'
  readonly problem: 'no-recording' | 'no-event'
  readonly line: number
  constructor(problem: RecordingError['problem'], line: number, options: { cause?: unknown } = {}) {
    super(`${problem} ${line}`, options)
    this.problem = problem
    this.line = line
  }
}

export function recordingHeader(options: ObserverOptions): RecordingHeader {
  return { apiVersion: 'sluice.dev/v1', kind: 'ObserverRecording', ...options }
}

/** @throws RecordingError */
export function parseHeader(text: string): ObserverOptions {
  const value = jsonOf(text)
  if (!isHeader(value)) throw new RecordingError('no-recording', 1)
  const { clusters, allNamespaces, graceMs, startedAt } = value
  return { clusters, allNamespaces, graceMs, startedAt }
}

/** The events of the lines after the first; a last line that a process has left half written is left out. Throws a RecordingError. */
export async function* parseEvents(lines: AsyncIterable<string> | Iterable<string>): AsyncGenerator<ObservedEvent> {
  let line = 1
  let broken: number | undefined
  for await (const text of lines) {
    line += 1
    if (text === '') continue
    if (broken !== undefined) throw new RecordingError('no-event', broken)
    const value = jsonOf(text)
    if (isEvent(value)) yield value
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

function isHeader(value: unknown): value is RecordingHeader {
  if (typeof value !== 'object' || value === null || !('kind' in value) || value.kind !== 'ObserverRecording') return false
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

/** By its type and the names of its parts: what is in them was checked before it was written. */
function isEvent(value: unknown): value is ObservedEvent {
  if (typeof value !== 'object' || value === null || !('at' in value) || typeof value.at !== 'number') return false
  const parts = 'type' in value && typeof value.type === 'string' ? BODIES[value.type as ObservedEvent['type']] : undefined
  return parts !== undefined && parts.every((part) => part in value)
}
