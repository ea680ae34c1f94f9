import type { Advice, AdviceCode, AdviceFields, EntryBefore } from '../../reasons/advice.ts'
import { orAsItIs } from './as-it-is.ts'
import { imageWords } from './images.ts'
import { agreeing, entries, goneAndDrained, inItsPlace, listed, type Writing } from './writing.ts'
import type { Command } from '../../reasons/command.ts'

function before(some: readonly EntryBefore[]): string[] {
  return some.map(({ loadBalancer, target, prior }) => `  ${loadBalancer}: ${target}, was ${JSON.stringify(prior)}`)
}

function lines(commands: readonly Command[], write: Writing, comments: readonly string[] = []): string[] {
  const shell = commands.map((command) => write.command(command))
  const widest = Math.max(...shell.map((line) => line.length))
  return shell.map((line, index) => {
    const comment = comments[index]
    return comment === undefined ? `  ${line}` : `  ${line.padEnd(widest)}   # ${comment}`
  })
}

const LOOK =
  'Where no run can know it: look yourself, half a minute from now, since a call that nobody answered may still arrive;'

type Lines = { [C in AdviceCode]: (facts: Readonly<AdviceFields[C]>, write: Writing) => string[] }

/** The lines of each piece of advice. Each command is on an indented line of its own, for copying. */
const ADVICE: Lines = {
  'look-at-entries': ({ entries: some }) => ['Look at these entries; before the drain they were as given:', ...before(some)],
  'look-at-pod': ({ commands }, write) => ['Look at the pod:', ...lines(commands, write)],
  'point-entries-at-replacement': ({ replacementAt }) => [
    `Point the entries at ${inItsPlace(replacementAt)}, and leave them drained, or remove them; then run the same command again. Once a ready pod of the same controller is at the address of an entry, that is put back. One that runs a bad image is never ready: upgrade to a good one, which the template gets at once, delete that pod, and run the same command again.`,
  ],
  'point-entries-at': ({ address }) => [
    `Point the entries at its address now (${address}), and leave them drained, or remove them; then run the same command again.`,
  ],
  'run-again': () => [
    'Once the cause is gone, run the same command again: it reads what is there, and goes on. An entry that was put back by hand is left so.',
  ],
  'say-entries-are-right': ({ commands }, write) => [
    'Or, once each entry is as it should be, whether put back, removed or left out for good:',
    ...lines(commands, write),
  ],
  'say-what-is-seen': ({ commands }, write) => [
    `${LOOK} say what you have seen, and then run the same command again:`,
    ...lines(commands, write, [
      'it gets no requests: the run goes on from there',
      'it is in rotation as it was: nothing is left to do for it',
    ]),
  ],
  'put-rest-back': ({ commands }, write) => [
    `${LOOK} put back what is out of rotation still, say that it is in, and then run the same command again:`,
    ...lines(commands, write),
  ],
  'stays-out': ({ entries: some }) => ['It stays out of rotation:', ...before(some)],
  'see-why': ({ commands }, write) => ['See why:', ...lines(commands, write)],
  'upgrade-to-working-images': ({ former }) => [
    `An upgrade to images that work (before this one: ${imageWords(former)}) takes it from there, and puts it back as it was.`,
  ],
  'see-why-it-failed': ({ commands }, write) => ['See why it failed:', ...lines(commands, write)],
  'entries-of-replacement': ({ replacement, entries: some }) => [
    `These entries are to be as they were before the drain, at the address of ${replacement}, unless somebody else wants them out:`,
    ...before(some),
  ],
  'say-how-entries-stand': ({ commands }, write) => [
    'Once each is as it should be, say so, and then run the same command again:',
    ...lines(commands, write, ['put back, or removed', 'somebody wants it out, and no run is to put it back']),
  ],
  'rest-is-left': ({ entries: some }) => [
    some.length === 1
      ? `${entries(some)} is left: where it can be read, the same command again goes on with it.`
      : `${entries(some)} are left: where they can be read, the same command again goes on with them.`,
  ],
  'rest-is-left-of-gone': ({ entries: some, commands }, write) => [
    `${entries(some)} ${agreeing(some, 'is left: once it is', 'are left: once each is')} as it should be, say so:`,
    ...lines(commands, write),
  ],
  'say-for-unreadable-journal': ({ pod, problem, entries: some, isOnRecord, commands }, write) => {
    const say = isOnRecord ? 'say what you have seen, in or out:' : 'bring it into rotation by hand, and say so:'
    const cannot = `The journal of pod/${pod} (sluice.dev/journal) cannot be read: ${write.reason(problem)}.`
    const look =
      some.length === 0
        ? [`${cannot} Look at the load balancer, then ${say}`]
        : [`${cannot} Look at these entries; before the drain they were as given:`, ...before(some), `Then ${say}`]
    return [...look, ...lines(commands, write)]
  },
  'entries-mean-another-address': ({ pod, entries: some, address, commands }, write) => {
    const [was, entry, it] = some.length === 1 ? ['was', 'entry', 'it'] : ['were', 'entries', 'them']
    return [
      `${listed(some)} ${was} drained for pod/${pod}, which has come to another address since (now ${address ?? 'none'}): point the ${entry} at it and leave ${it} drained, or remove ${it}, and run the same command again; or put ${it} back, and say so:`,
      ...lines(commands, write),
    ]
  },
  'settle-for-gone-pod': ({ pod, entries: some, replacementAt, commands }, write) => {
    return [goneAndDrained(pod, some, replacementAt), ...lines(commands, write)]
  },
  'remove-unreadable-record': ({ commands }, write) => [
    'Where a newer sluice has written it, use that one. Else, with no run at work, look in the load balancers for what it may have left out ' +
      'of rotation, put that right, and remove the record:',
    ...lines(commands, write),
  ],
}

export function isAdvice(value: object): value is Advice {
  return 'code' in value && typeof value.code === 'string' && Object.hasOwn(ADVICE, value.code)
}

/** The lines of one piece of advice. */
export function adviceLines(advice: Advice, write: Writing): string[] {
  const make = ADVICE[advice.code] as ((facts: Advice, write: Writing) => string[]) | undefined
  const { code, ...facts } = advice
  return orAsItIs(facts, () => make?.(advice, write).join('\n'), `${code} `).split('\n')
}
