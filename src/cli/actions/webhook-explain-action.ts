import type { ZodError } from 'zod'
import { EXIT, type ExitCode } from '../../library/exit-codes.ts'
import { explainedWords } from '../../report/words/webhook.ts'
import { type ClusterIndex, createClusterIndex } from '../../webhook/cluster/cluster-index.ts'
import type { EndpointsKind } from '../../webhook/cluster/cluster-view.ts'
import { keptEndpoints, keptNode, keptPod, keptService, keptSlice } from '../../webhook/cluster/kept-fields.ts'
import { explainDecision, type ExplainedObject } from '../../webhook/decide/explain.ts'
import { ObjectError } from '../../webhook/decide/object-error.ts'
import type { RuleSet } from '../../webhook/rules/rule-set.ts'
import type { ExplainRulesFlags } from '../arguments/flags.ts'
import { UsageError } from '../arguments/usage-error.ts'
import type { CommandContext } from '../commands/context.ts'
import { API_VERSION } from '../output/api-version.ts'
import { inert, inertJson } from '../output/inert.ts'
import { type FileObject, readObjects } from '../webhook/read-objects.ts'
import { readRules } from './webhook-rules-actions.ts'

const NOTHING: FileObject[] = []

/** @throws UsageError, ConfigError or RulesError */
export async function explainRulesAction(
  file: string,
  flags: ExplainRulesFlags,
  { terminal }: CommandContext,
): Promise<ExitCode> {
  const nowAt = timeOf(flags.at)
  const rules = await readRules(file)
  const [given, old, others] = await Promise.all([
    readObjects(flags.object),
    flags.old === undefined ? NOTHING : readObjects(flags.old),
    Promise.all((flags.with ?? []).map(readObjects)),
  ])
  const subjects = given.filter(isSubject)
  if (subjects.length === 0) throw new UsageError([`${flags.object}: has no EndpointSlice and no Endpoints`])
  const cluster = clusterOf([...given.filter((one) => !isSubject(one)), ...others.flat()])
  const former = old.filter(isSubject)
  const explained = subjects.map((subject) => explain(subject, { rules, cluster, nowAt, old: former }))
  if (flags.output === 'json')
    terminal.out.write(`${inertJson({ apiVersion: API_VERSION, kind: 'EndpointRulesExplanation', objects: explained }, 2)}\n`)
  else
    explained.forEach((one, index) => {
      if (index > 0) terminal.out.write('\n')
      for (const line of explainedWords(one)) terminal.out.write(`${inert(line)}\n`)
    })
  return EXIT.done
}

interface Subject extends FileObject {
  readonly kind: EndpointsKind
}

function isSubject(one: FileObject): one is Subject {
  return one.kind === 'EndpointSlice' || one.kind === 'Endpoints'
}

function timeOf(at: string | undefined): number {
  const nowAt = at === undefined ? Date.now() : Date.parse(at)
  if (Number.isNaN(nowAt)) throw new UsageError([`--at ${JSON.stringify(at)} is no time: write it such as 2026-11-30T10:00:00Z`])
  return nowAt
}

interface World {
  readonly rules: RuleSet
  readonly cluster: ClusterIndex
  readonly nowAt: number
  readonly old: readonly Subject[]
}

function explain({ kind, object }: Subject, { rules, cluster, nowAt, old }: World): ExplainedObject {
  const { name, namespace } = metadataOf(object)
  const former = old.find(
    (one) => one.kind === kind && metadataOf(one.object).name === name && metadataOf(one.object).namespace === namespace,
  )
  try {
    return explainDecision({ rules, kind, object, cluster, nowAt, ...(former === undefined ? {} : { old: former.object }) })
  } catch (error) {
    if (!(error instanceof ObjectError)) throw error
    throw new UsageError([`${kind} ${String(name)}: ${error.message}`])
  }
}

function metadataOf(object: Record<string, unknown>): { name?: unknown; namespace?: unknown } {
  return (object['metadata'] ?? {}) as { name?: unknown; namespace?: unknown }
}

/** The objects of kinds that rules do not read are left out. */
function clusterOf(objects: readonly FileObject[]): ClusterIndex {
  const index = createClusterIndex()
  for (const { kind, object } of objects) {
    try {
      put(index, kind, object)
    } catch (error) {
      const [issue] = (error as ZodError).issues
      throw new UsageError([
        `${kind} ${String(metadataOf(object).name)}: ${issue?.path.join('.') ?? ''} is not as the API server has it`,
      ])
    }
  }
  return index
}

function put(index: ClusterIndex, kind: string, raw: object): void {
  if (kind === 'Pod') index.apply({ kind, is: 'put', object: keptPod(raw) })
  if (kind === 'Node') index.apply({ kind, is: 'put', object: keptNode(raw) })
  if (kind === 'Service') index.apply({ kind, is: 'put', object: keptService(raw) })
  if (kind === 'EndpointSlice') index.apply({ kind, is: 'put', object: keptSlice(raw) })
  if (kind === 'Endpoints') index.apply({ kind, is: 'put', object: keptEndpoints(raw) })
}
