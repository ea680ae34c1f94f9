import { CHECK_GROUPS, type CheckGroup } from '../../doctor/findings.ts'
import type { CheckReport, DoctorReport, FoundBy } from '../../doctor/report.ts'
import { checkTitles, findingHint, findingMessage, findingPage, groupTitles, skipMessage } from '../../report/words/doctor.ts'
import { worded } from '../../report/words/document.ts'
import type { Writing } from '../../report/words/writing.ts'
import { API_VERSION } from './api-version.ts'
import type { Colors } from './color.ts'
import { inert } from './inert.ts'

/** The number of findings per code that are shown. Many findings of one code mostly have one cause. */
const MOST_SHOWN = 10

/** The document of `doctor -o json`: each finding with its English text, the advice, and the page that explains it. */
export function doctorDocument({ checks, ...report }: DoctorReport, write: Writing): unknown {
  const told = checks.map(({ findings, skipped, ...check }) => ({
    ...check,
    title: checkTitles[check.check],
    findings: findings.map((finding) => ({
      ...factsOf(finding, write),
      message: findingMessage(finding, write),
      hint: findingHint(finding, write),
      page: findingPage(finding),
    })),
    skipped: skipped.map((skip) => ({ ...factsOf(skip, write), message: skipMessage(skip, write) })),
  }))
  return { apiVersion: API_VERSION, kind: 'DoctorReport', ...report, checks: told }
}

/** Words each fact separately. A finding may share its code with a reason, and would get the words of that reason. */
function factsOf(finding: object, write: Writing): object {
  return Object.fromEntries(Object.entries(finding).map(([name, fact]) => [name, worded(fact, write)]))
}

/** Prints a line for each check, and below it the findings with advice and page. */
export function doctorLines({ checks, outcome }: DoctorReport, colors: Colors, write: Writing): string[] {
  const groups = Object.keys(CHECK_GROUPS) as CheckGroup[]
  const sections = groups.flatMap((group) => {
    const own = checks.filter((check) => check.group === group)
    return [
      groupTitles[group],
      '-'.repeat(groupTitles[group].length),
      ...own.flatMap((one) => checkLines(one, colors, write)),
      '',
    ]
  })
  return [...sections, summary(checks, outcome, colors)]
}

function checkLines({ check, outcome, findings, ignored, skipped }: CheckReport, colors: Colors, write: Writing): string[] {
  const title = checkTitles[check]
  const skips = skipped.map((skip) => colors.dim(`    not looked at: ${inert(skipMessage(skip, write))}`))
  const mark = { passed: colors.green('√'), warning: colors.yellow('‼'), failed: colors.red('×'), skipped: colors.dim('-') }[
    outcome
  ]
  const byCode = [...Map.groupBy(findings, ({ code }) => code).values()]
  const told = byCode.flatMap((same) => [
    ...same.slice(0, MOST_SHOWN).flatMap((one) => findingLines(one, findings.length > 1, colors, write)),
    ...(same.length > MOST_SHOWN ? [`    and ${same.length - MOST_SHOWN} more of ${same[0]!.code}: -o json has all`] : []),
  ])
  const notTold = ignored === undefined ? [] : [colors.dim(`    ${ignored} ignored`)]
  return [`${mark} ${title}`, ...told, ...notTold, ...skips]
}

/** Each of several findings has a mark of its own, because one may be worse than the others. */
function findingLines(finding: FoundBy, isOneOfSeveral: boolean, colors: Colors, write: Writing): string[] {
  const mark = finding.severity === 'failed' ? colors.red('× ') : colors.yellow('‼ ')
  return [
    `    ${isOneOfSeveral ? mark : ''}${inert(findingMessage(finding, write))}`,
    ...findingHint(finding, write)
      .split('\n')
      .map((line) => `      ${inert(line)}`),
    colors.dim(`      see ${findingPage(finding)}`),
  ]
}

function summary(checks: readonly CheckReport[], outcome: DoctorReport['outcome'], colors: Colors): string {
  const count = (wanted: CheckReport['outcome']): number => checks.filter((one) => one.outcome === wanted).length
  const parts = (['passed', 'warning', 'failed', 'skipped'] as const).flatMap((one) =>
    count(one) === 0 ? [] : [`${count(one)} ${WORDS[one]}`],
  )
  const mark = { passed: colors.green('√'), warning: colors.yellow('‼'), failed: colors.red('×') }[outcome]
  return `${mark} ${parts.join(', ')}`
}

const WORDS = { passed: 'passed', warning: 'with warnings', failed: 'failed', skipped: 'skipped' }
