import type { Gathered, Listed, Objects } from './gathered.ts'
import {
  CHECK_GROUPS,
  type CheckGroup,
  type CheckName,
  type Finding,
  type FindingCode,
  severityOf,
  type Skip,
} from './findings.ts'
import type { CheckReport, FoundBy } from './report.ts'

/** The result of a check. A check may skip one part, and have findings in another. */
export interface Examination {
  findings: readonly Finding[]
  skipped: readonly Skip[]
}

/** A check is a pure function of the gathered data. */
export interface Check {
  readonly name: CheckName
  examine(gathered: Gathered): Examination
}

export function found(findings: readonly Finding[]): Examination {
  return { findings, skipped: [] }
}

export function skippedFor(...skipped: readonly Skip[]): Examination {
  return { findings: [], skipped }
}

/** Runs `find` on objects of these kinds. The part of the check is skipped where one of the kinds could not be read. */
export function needing<Kind extends keyof Objects>(
  { listed }: Gathered,
  kinds: readonly Kind[],
  find: (objects: { readonly [K in Kind]: readonly Objects[K][] }) => readonly Finding[],
): Examination {
  const read = kinds.map((kind) => [kind, listed[kind] as Listed<Objects[Kind]>] as const)
  const skipped = read.flatMap(([, one]) => (one.ok ? [] : [one.because]))
  if (skipped.length > 0) return skippedFor(...skipped)
  const objects = Object.fromEntries(read.map(([kind, one]) => [kind, one.ok ? one.value : []]))
  return found(find(objects as unknown as { readonly [K in Kind]: readonly Objects[K][] }))
}

/** Skips a check of Services where there are none. A mistyped namespace has no Services either, and must not pass. */
export function ofServices({ listed: { services }, namespace }: Gathered, examination: Examination): Examination {
  if (!services.ok || services.value.length > 0) return examination
  return skippedFor({ code: 'nothing-there', resource: 'services', ...(namespace === undefined ? {} : { namespace }) })
}

export function together(...parts: readonly Examination[]): Examination {
  return { findings: parts.flatMap(({ findings }) => findings), skipped: parts.flatMap(({ skipped }) => skipped) }
}

export function reportOf({ name }: Check, { findings, skipped }: Examination, ignore: readonly FindingCode[] = []): CheckReport {
  const counted = findings.filter(({ code }) => !ignore.includes(code))
  const graded = counted.map((finding): FoundBy => ({ ...finding, severity: severityOf(finding) }))
  const of = (severity: FoundBy['severity']): FoundBy[] => graded.filter((one) => one.severity === severity)
  const sorted = [...of('failed'), ...of('warning')]
  const [worst] = sorted
  return {
    check: name,
    group: groupOf(name),
    outcome: worst?.severity ?? (skipped.length > 0 ? 'skipped' : 'passed'),
    findings: sorted,
    ...(counted.length < findings.length ? { ignored: findings.length - counted.length } : {}),
    skipped: distinct(skipped),
  }
}

function groupOf(name: CheckName): CheckGroup {
  const groups = Object.entries(CHECK_GROUPS) as [CheckGroup, readonly CheckName[]][]
  return groups.find(([, names]) => names.includes(name))![0]
}

/** Removes duplicates, because two parts of a check may need the same objects. */
function distinct(skipped: readonly Skip[]): Skip[] {
  return [...new Map(skipped.map((one) => [JSON.stringify(one), one])).values()]
}
