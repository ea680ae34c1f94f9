import { z } from 'zod'
import { displayType, isSameKind } from '../pods/workload-id.ts'
import type { Kind, KindRight, Mechanism, Through } from '../workloads/kinds/kind.ts'
import { createKinds as kindsOf, type Kinds, namesOf } from '../workloads/kinds/kinds.ts'
import type { RevisionRules } from '../workloads/revision-rules.ts'
import { member } from './request/members.ts'
import { parsed } from './request/parsed.ts'
import type { RequestIssue } from './request/request-error.ts'

function text(pattern: RegExp, what: string): z.ZodType<string> {
  return z.string().regex(pattern, { error: ({ input }) => `${JSON.stringify(input)} cannot be ${what}` })
}

const rule = member<never>((value) => typeof value === 'function', 'a function', 'docs/kinds.md says what it gets and gives')

const nameFields = {
  group: text(/^(?:[a-z0-9]+(?:[-.][a-z0-9]+)*)?$/, 'the name of an API group: lower case, empty for the core group'),
  version: text(/^[a-z][a-z0-9]*$/, "the version of an API, such as 'v1'"),
  kind: text(/^[A-Z][A-Za-z0-9]*$/, "a kind, such as 'CloneSet'"),
  plural: text(/^[a-z][a-z0-9]*$/, "a plural, such as 'clonesets'"),
}

const Mechanism = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('revisioned'),
    revisions: z.looseObject({
      desired: rule,
      replaces: rule,
      podLabel: rule,
      updateRevision: rule,
    } satisfies Record<keyof RevisionRules, z.ZodType>),
  }),
  z.strictObject({
    type: z.literal('pods-alone'),
    through: z.strictObject({ ...nameFields, workloadName: rule } satisfies Record<keyof Through, z.ZodType>),
  }),
]) satisfies z.ZodType<{ type: Mechanism['type'] }>

const Kind = z.strictObject({
  ...nameFields,
  shortNames: z.array(text(/^[a-z][a-z0-9]*$/, 'a short name: lower-case letters and digits')),
  mechanism: Mechanism.optional(),
  isHeir: rule,
  first: z.enum(['lowest', 'highest']),
  rights: z.array(
    z.strictObject({
      group: nameFields.group,
      resource: z.string().min(1),
      verbs: z.array(z.string().min(1)).min(1),
      isOfWorkload: z.literal(true).optional(),
      why: z.string(),
    } satisfies Record<keyof KindRight, z.ZodType>),
  ),
} satisfies Record<keyof Kind, z.ZodType>)

/**
 * The kinds that a sluice supports, such as `createKinds([...KINDS.all, mine])`. If two kinds of different groups share a name (kind or
 * plural), the name without a group means the first of them. Throws a RequestError that lists every problem.
 */
export function createKinds(all: readonly Kind[]): Kinds {
  const schema = z.strictObject({ kinds: z.array(Kind).min(1) })
  return parsed(
    schema,
    { kinds: all },
    (issues) => {
      for (const [index, kind] of all.entries()) issues.push(...clashes(kind, index, all.slice(0, index)))
      return kindsOf(all)
    },
    'kinds',
  )
}

function clashes(kind: Kind, index: number, before: readonly Kind[]): RequestIssue[] {
  const same = before.findIndex((one) => isSameKind(one, kind))
  if (same >= 0) {
    const message = `${displayType(kind)} is kinds[${same}] too`
    return [{ field: `kinds[${index}]`, message, hint: 'give each kind once; leave the other one out to replace it' }]
  }
  return kind.shortNames.flatMap((short, at): RequestIssue[] => {
    const other = before.find((one) => namesOf(one).includes(short))
    if (other === undefined) return []
    const message = `${JSON.stringify(short)} is a name of ${displayType(other)} too`
    return [{ field: `kinds[${index}].shortNames[${at}]`, message, hint: 'leave it out, or choose another one' }]
  })
}
