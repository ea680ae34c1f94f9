import type { ReasonOf } from '../../reasons/reason.ts'
import type { Awaited, Difference, TemplateReasons } from '../../reasons/template-reasons.ts'
import { cause, seconds, type WordsOf } from './writing.ts'

const SHOWN_DIFFERENCES = 5
const SHOWN_VALUE_LENGTH = 60

function show(value: unknown): string {
  if (value === undefined) return '(none)'
  const text = JSON.stringify(value)
  return text.length <= SHOWN_VALUE_LENGTH ? text : `${text.slice(0, SHOWN_VALUE_LENGTH)}…`
}

/** The first differences, within a maximum length. */
export function differencesList(found: readonly Difference[]): string {
  const shown = found.slice(0, SHOWN_DIFFERENCES).map(({ path, before, after }) => `${path}: ${show(before)} → ${show(after)}`)
  const hidden = found.length - shown.length
  return [...shown, ...(hidden > 0 ? [`and ${hidden} more`] : [])].join('; ')
}

/** The condition that a template waits for, after the word `until`. */
function awaited(waiting: ReasonOf<Awaited>): string {
  switch (waiting.code) {
    case 'awaits-template-write':
      return 'the API server takes the template'
    case 'awaits-generation':
      return `the ${waiting.kind} controller observes generation ${waiting.generation} (it is at ${waiting.observed})`
    case 'awaits-revision': {
      const { newest } = waiting
      const but = newest && ` (the newest is ${newest.name}, which differs: ${differencesList(newest.differences)})`
      return `the ControllerRevision of the template appears${but ?? ''}`
    }
  }
}

/** The words for the problems and the waiting conditions of a template. */
export const template: WordsOf<TemplateReasons> = {
  'workload-deleted': ({ workload }) => `${workload} was deleted`,
  'workload-going': ({ workload }) => `${workload} is being deleted`,
  'strategy-changed': ({ workload, now, expected }) => `the update strategy of ${workload} is ${now} now, no longer ${expected}`,
  'template-changed': ({ workload, differences }) =>
    `the template of ${workload} was changed by somebody else: ${differencesList(differences)}`,
  'template-stored-otherwise': ({ because }, write) => `the template was stored otherwise than asked${cause(because, write)}`,
  'template-refused': ({ workload, because }, write) =>
    `the API server refuses the template of ${workload}${cause(because, write)}`,
  'template-not-in-time': ({ workload, deadlineMs, waiting, because }, write) =>
    `deadline template (${seconds(deadlineMs)}): ${workload}: waited until ${awaited(waiting)}${because === undefined ? '' : `; the last error was: ${write.reason(because)}`}`,
  'awaits-template-write': () => `waits until ${awaited({ code: 'awaits-template-write' })}`,
  'awaits-generation': (facts) => `waits until ${awaited({ code: 'awaits-generation', ...facts })}`,
  'awaits-revision': (facts) => `waits until ${awaited({ code: 'awaits-revision', ...facts })}`,
  'revision-is-another': ({ workload, revision, differences }) =>
    `the update revision of ${workload} is not its template: ${revision} differs: ${differencesList(differences)}`,
  'template-patched': () => 'template patched',
  'pods-take-revision': ({ revision }) => `pods take the revision ${revision}`,
  'fence-not-set': ({ because }, write) => `no fence could be set${cause(because, write)}`,
  'owner-changed': ({ workload }) => `another owner has taken ${workload} meanwhile`,
  'template-left': ({ workload, because }, write) => `the template of ${workload} was left as it is${cause(because, write)}`,
  'template-edited': ({ workload, container, image }) =>
    `the template of ${workload} was left as it is: container ${container} has ${image} there, which the run has not set`,
  'no-former-image': ({ workload, container }) => `the template of ${workload} had no image for container ${container}`,
  'not-prepared': ({ workload }) => `${workload} was not prepared`,
  'unknown-kind': ({ workload }) => `${workload} is of no kind that sluice knows here`,
  'no-such-workload': ({ workload, namespace }) =>
    `there is no ${workload} in namespace ${namespace}; check the name, and the namespace`,
  'not-allowed': ({ verbs, resource, namespace }) =>
    `not allowed to ${verbs.join(' and ')} ${resource} in namespace ${namespace}; \`sluice rbac\` prints a Role with the rights that a run needs`,
  'refused-by-api-server': ({ because }, write) => `the API server refuses it${cause(because, write)}`,
}
