import { describe, expect, test, type TestContext } from 'vitest'
import type { NextPurpose } from '../../../src/cli/printed-commands/next-command.ts'
import { kubectlIsHere } from '../kubectl.ts'
import { type Bed, CONTAINER, type Ended, openBed, podTemplate, statefulSet } from './bed.ts'

/*
 * The ends of runs and plans, and each command that is printed then. Each command is pasted unchanged; a run is first tried with
 * `--dry-run`.
 */

interface Ending {
  name: string
  /** The kinds of offers in the last lines, in order. */
  kinds: (NextPurpose | 'perform' | 'untouched' | 'resolve' | 'describe')[]
  /** Brings the end about, and returns the output. */
  end(bed: Bed): Promise<Ended>
  /** A change between the output and the pasted commands. */
  meanwhile?(bed: Bed): Promise<void>
}

const V2 = ['sts/web', 'app=app:v2']

/** The lines above the commands. */
const HEADINGS: Record<Ending['kinds'][number], RegExp> = {
  backToTemplate: /^statefulset\/web: \d of \d pods run other images than the template/,
  undo: /^To take it back:$/,
  followTemplate: /^The run is over\. Where the pods are to follow the template as it is now/,
  end: /^The run stays open\. To end it:$/,
  liftPause: /^To lift the pause:$/,
  goOn: /^To (go on|try the same again)/,
  perform: /^To do this:$/,
  untouched: /^SIGINT: nothing was touched\. To go on from here:$/,
  resolve: /^ *Where no run can know it: look yourself/,
  describe: /^ *(Look at the pod|See why( it failed)?):$/,
}

async function interrupted(bed: Bed, ...args: string[]): Promise<Ended> {
  const { terminal, ended } = bed.start('upgrade', ...args, '--grace', '0s')
  await bed.until(() => bed.pods().some(({ spec }) => spec.containers[0]!.image === 'app:slow'))
  terminal.events.emit('SIGINT')
  return ended
}

/** Pauses a run after one of its two pods is upgraded. */
async function paused(bed: Bed): Promise<Ended> {
  const { ended } = bed.start('upgrade', ...V2, '--ready-for', '2s', '--exit-when-paused')
  await bed.until(() => bed.pods().some(({ spec }) => spec.containers[0]!.image === 'app:v2'))
  expect((await bed.sluice('pause', 'sts/web')).code).toBe(0)
  return ended
}

async function needsOperator(bed: Bed): Promise<Ended> {
  const { ended } = bed.start('upgrade', ...V2, '--ready-for', '2s', '--restore-deadline', '3s')
  await bed.until(() => bed.pods().some(({ spec }) => spec.containers[0]!.image === 'app:v2'))
  await bed.stopBalancer()
  return ended
}

const ENDINGS: Ending[] = [
  { name: 'a plan', kinds: ['perform'], end: (bed) => bed.sluice('plan', ...V2) },
  { name: 'a dry run', kinds: ['perform'], end: (bed) => bed.sluice('upgrade', ...V2, '--dry-run') },
  {
    name: 'a dry run of an undo',
    kinds: ['perform'],
    end: async (bed) => {
      await bed.sluice('upgrade', ...V2)
      return bed.sluice('undo', 'sts/web', '--dry-run')
    },
  },
  {
    name: 'an interrupt before anything is touched',
    kinds: ['untouched'],
    end: async (bed) => {
      const { terminal, ended } = bed.start('upgrade', ...V2)
      await bed.until(() => terminal.events.listenerCount('SIGINT') > 0)
      terminal.events.emit('SIGINT')
      const stderr = terminal.written.err
      // The terminal of the test continues after the exit.
      return { ...(await ended), stdout: '', stderr }
    },
  },
  {
    name: 'an interrupt with a pod out of rotation',
    kinds: ['undo', 'goOn'],
    end: (bed) => interrupted(bed, 'sts/web', 'app=app:slow'),
  },
  {
    name: 'a pod that fails',
    kinds: ['describe', 'undo', 'goOn'],
    end: (bed) => bed.sluice('upgrade', 'sts/web', 'app=app:slow', '--ready-deadline', '3s', '--ready-for', '1s'),
  },
  {
    name: 'a pod that is rolled back',
    kinds: ['describe', 'end', 'goOn'],
    end: (bed) =>
      bed.sluice('upgrade', 'sts/web', 'app=app:slow', '--ready-deadline', '3s', '--ready-for', '1s', '--on-failure', 'rollback'),
  },
  { name: 'a pause', kinds: ['liftPause', 'goOn'], end: paused },
  {
    name: 'an abort that leaves pods on two images',
    kinds: ['backToTemplate'],
    end: async (bed) => {
      await paused(bed)
      return bed.sluice('abort', 'sts/web')
    },
  },
  {
    name: 'an abort that finds another template',
    kinds: ['followTemplate'],
    end: async (bed) => {
      await paused(bed)
      bed.cluster.apply(statefulSet({ replicas: 2, template: podTemplate([{ ...CONTAINER, image: 'app:v3' }]) }))
      await bed.observed()
      return bed.sluice('abort', 'sts/web')
    },
  },
  {
    name: 'a load balancer that is away when a pod is put back',
    kinds: ['describe', 'resolve', 'goOn'],
    end: needsOperator,
    meanwhile: async (bed) => {
      await bed.balance()
      await bed.setState('web-1', 'drain')
    },
  },
]

interface Offer {
  heading: string
  commands: string[]
}

/** Returns the commands on lines of their own, each with its purpose. */
function offers(text: string): Offer[] {
  const found: Offer[] = []
  let heading = ''
  let isFirst = true
  for (const line of text.split('\n')) {
    if (/^ {2,}(sluice|kubectl) /.test(line)) {
      if (isFirst) found.push({ heading, commands: [] })
      found.at(-1)!.commands.push(line.trim())
      isFirst = false
    } else {
      heading = line
      isFirst = true
    }
  }
  return found
}

/** Reports whether a command has a dry run. Orders and `sluice resolve` have none. */
function isRun(command: string): boolean {
  return /^sluice (upgrade|undo) /.test(command)
}

async function assertAccepted(bed: Bed, command: string): Promise<void> {
  const { code, stdout, stderr } = await bed.paste(command, ...(isRun(command) ? ['--dry-run'] : []))
  expect({ command, stdout, stderr, isAccepted: code === 0 || (isRun(command) && code === 1) }).toMatchObject({
    isAccepted: true,
  })
}

describe.concurrent('what is printed last is accepted', () => {
  test.for(ENDINGS)('$name: $kinds', { timeout: 120_000 }, async ({ kinds, end, meanwhile }, { onTestFinished }) => {
    const bed = await openBed()
    onTestFinished(() => bed.close())
    bed.cluster.apply(statefulSet({ replicas: 2 }))
    await bed.ready(2)
    await bed.balance()
    const { stdout, stderr } = await end(bed)
    const text = (stdout.trim() === '' ? stderr : stdout).trimEnd()
    const offered = offers(text)
    expect([text, offered.map(({ heading }) => kinds.find((kind) => HEADINGS[kind].test(heading)) ?? heading)]).toEqual([
      text,
      kinds,
    ])
    // The last line is the way on.
    expect(text.split('\n').at(-1)!.trim()).toBe(offered.at(-1)!.commands.at(-1))
    await meanwhile?.(bed)
    // Commands that have a dry run come first, since an order changes the state that later commands find.
    const commands = offered.flatMap((one) => one.commands).filter((one) => kubectlIsHere || !one.startsWith('kubectl '))
    for (const command of commands.toSorted((a, b) => Number(isRun(b)) - Number(isRun(a)))) await assertAccepted(bed, command)
  })
})

test('each kind of command that follows a run has an ending', () => {
  const kinds = new Set(ENDINGS.flatMap((one) => one.kinds))
  expect(Object.keys(HEADINGS).filter((kind) => !kinds.has(kind as NextPurpose))).toEqual([])
})

async function openWeb({ onTestFinished }: Pick<TestContext, 'onTestFinished'>): Promise<Bed> {
  const bed = await openBed()
  onTestFinished(() => bed.close())
  bed.cluster.apply(statefulSet())
  await bed.ready(1)
  await bed.balance()
  return bed
}

describe.concurrent('in the middle of a sentence', () => {
  test.for(['in', 'out'])(
    'the record of a half-done pod cannot be read: status, --traffic %s',
    { timeout: 60_000 },
    async (where, context) => {
      const bed = await openWeb(context)
      await interrupted(bed, 'sts/web', 'app=app:slow')
      editJournal(bed)
      const { code, stdout } = await bed.sluice('status')
      expect(code).toBe(8)
      await assertAccepted(
        bed,
        offers(stdout)[0]!.commands.find((one) => one.endsWith(`--traffic ${where}`))!,
      )
    },
  )

  test('the same of a pod that no run has on record: it is asked for in rotation alone', { timeout: 60_000 }, async (context) => {
    const bed = await openWeb(context)
    editJournal(bed)
    const [{ commands }] = offers((await bed.sluice('status')).stdout) as [Offer]
    expect(commands).toHaveLength(1)
    await assertAccepted(bed, commands[0]!)
  })

  test('a half-done pod of a load balancer that the config does not have any more', { timeout: 60_000 }, async (context) => {
    const bed = await openWeb(context)
    await interrupted(bed, 'sts/web', 'app=app:slow')
    await bed.balance({ as: 'front' })
    const { code, stderr } = await bed.sluice('plan', ...V2)
    expect(code).toBe(3)
    await assertAccepted(bed, /sluice resolve .*--traffic in/.exec(stderr)![0])
  })
})

function editJournal(bed: Bed): void {
  bed.cluster.apiServer.store.update(
    'pods',
    'default',
    'web-0',
    (now) => ({ ...now, metadata: { ...now.metadata, annotations: { ...now.metadata.annotations, 'sluice.dev/journal': '{' } } }),
    'somebody',
  )
}

test('a negative control: a command that a plan refuses is caught', async ({ onTestFinished }) => {
  const bed = await openBed()
  onTestFinished(() => bed.close())
  bed.cluster.apply(statefulSet())
  await bed.ready(1)
  await bed.balance({ names: [] })
  const { stdout } = await bed.sluice('plan', ...V2, '--allow-unbalanced')
  const [{ commands }] = offers(stdout) as [Offer]
  await assertAccepted(bed, commands[0]!)
  await expect(assertAccepted(bed, commands[0]!.replace('--allow-unbalanced ', ''))).rejects.toThrow('isAccepted')
}, 60_000)
