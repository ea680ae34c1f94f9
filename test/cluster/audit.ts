import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ClusterInfo } from './cluster-info.ts'

/** One request as the API server logged it, at the level Metadata, without bodies. */
export interface AuditEvent {
  auditID: string
  stage: 'ResponseStarted' | 'ResponseComplete' | 'Panic'
  verb: string
  requestURI: string
  user: { username: string; groups?: string[] }
  impersonatedUser?: { username: string }
  userAgent?: string
  objectRef?: { resource?: string; namespace?: string; name?: string; subresource?: string; apiGroup?: string }
  responseStatus?: { code: number; reason?: string }
  /** The request body, at the level Request. */
  requestObject?: unknown
  requestReceivedTimestamp: string
  stageTimestamp: string
}

export interface AuditFilter {
  user?: string
  verb?: string | string[]
  resource?: string
  /** The subresource. Empty for requests to the object itself. */
  subresource?: string
  namespace?: string
  name?: string
  /** Selects requests received at this instant or later, in ms since the epoch. */
  since?: number
  /** The stage. A watch is logged at its start and its end; by default each request counts once, at its answer. */
  stage?: AuditEvent['stage']
}

/** The policy logs all requests, including reads. It omits the stage that repeats each request before its answer. */
export const auditPolicy = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived'],
  rules: [{ level: 'Metadata' }],
}

export function auditFile(info: ClusterInfo): string {
  return join(info.dir, 'audit.log')
}

export function readAudit(info: ClusterInfo, filter?: AuditFilter): Promise<AuditEvent[]> {
  return readAuditFile(auditFile(info), filter)
}

export async function readAuditFile(file: string, filter: AuditFilter = {}): Promise<AuditEvent[]> {
  const text = await readFile(file, 'utf8').catch(() => '')
  const complete = text.slice(0, text.lastIndexOf('\n') + 1)
  const events: AuditEvent[] = []
  for (const line of complete.split('\n')) {
    if (line !== '' && (filter.user === undefined || line.includes(filter.user))) {
      events.push(JSON.parse(line) as AuditEvent)
    }
  }
  return events.filter((event) => matches(event, filter))
}

function matches(event: AuditEvent, filter: AuditFilter): boolean {
  const { objectRef } = event
  const verbs = typeof filter.verb === 'string' ? [filter.verb] : filter.verb
  return (
    (filter.user === undefined || event.user.username === filter.user) &&
    (verbs === undefined || verbs.includes(event.verb)) &&
    (filter.resource === undefined || objectRef?.resource === filter.resource) &&
    (filter.subresource === undefined || (objectRef?.subresource ?? '') === filter.subresource) &&
    (filter.namespace === undefined || objectRef?.namespace === filter.namespace) &&
    (filter.name === undefined || objectRef?.name === filter.name) &&
    (filter.since === undefined || Date.parse(event.requestReceivedTimestamp) >= filter.since) &&
    (filter.stage === undefined ? countsOnce(event) : event.stage === filter.stage)
  )
}

function countsOnce(event: AuditEvent): boolean {
  return event.verb === 'watch'
    ? event.stage === 'ResponseStarted'
    : event.stage === 'ResponseComplete' || event.stage === 'Panic'
}
