import { describe, expect, test, type TestContext } from 'vitest'
import type { RefusalCode } from '../../../src/reasons/refusals.ts'
import { kubectlIsHere } from '../kubectl.ts'
import { type Bed, openBed, statefulSet } from './bed.ts'
import { CODES, REFUSALS, type RefusalRow, type Way } from './refusals.ts'

/* Each refusal is brought about on the embedded cluster, and resolved as the last output says. */

interface Printed {
  /** The whole output. */
  text: string
  hint: string
  command: string | undefined
}

/** Returns the last lines of a refused plan. */
function lastRefusal(text: string): Printed {
  const lines = text.trimEnd().split('\n')
  const below = lines.slice(lines.findLastIndex((line) => line.startsWith('refused: ')) + 1)
  const command = below.find((line) => /^ {6}\S/.test(line))
  return { text, hint: below[0]?.trim() ?? '', command: command?.trim() }
}

const FLAG = /--[a-z][\w-]*(?: [\w.-]*\w)?(?=[.,)]|$)/g

/** Returns the offered commands and flags that none of the ways tries. */
function untried({ hint, command }: Pick<Printed, 'hint' | 'command'>, ways: readonly Way[]): string[] {
  const flags = ways.some(({ kind }) => kind === 'flag') ? [] : (hint.match(FLAG) ?? [])
  const commands = command === undefined || ways.some(({ kind }) => kind === 'command') ? [] : [command]
  return [...commands, ...flags.filter((flag) => !ways.some((way) => way.kind === 'arguments' && way.flag === flag))]
}

/** Takes a way out. Returns the arguments of the next `plan`. */
async function take(way: Way, printed: Printed, { bed, args }: { bed: Bed; args: string[] }): Promise<string[]> {
  const paste = async (line: string, meanwhile?: (bed: Bed) => void): Promise<string[]> => {
    const pasted = bed.paste(line)
    meanwhile?.(bed)
    expect({ line, ...(await pasted) }).toMatchObject({ line, code: 0 })
    return args
  }
  switch (way.kind) {
    case 'command':
      return paste(printed.command!, way.meanwhile)
    case 'flag': {
      const flags = printed.hint.match(FLAG)!
      const [[name = ''] = []] = flags.map((flag) => flag.split(' '))
      if (printed.command === undefined) return [...args, ...flags.flatMap((flag) => flag.split(' '))]
      return paste(printed.command.replace(new RegExp(`${name} \\S+`), flags[0]!))
    }
    case 'arguments':
      await way.hand?.(bed)
      return way.take(printed.text, args)
    case 'byHand':
      await way.hand(bed)
      return args
    case 'elsewhere':
      return args
  }
}

interface Left {
  printed: Printed
  code: number
  said: string
}

async function leave(
  { code, set }: Pick<RefusalRow, 'code' | 'set'>,
  way: Way,
  { onTestFinished }: Pick<TestContext, 'onTestFinished'>,
): Promise<Left> {
  const bed = await openBed()
  onTestFinished(() => bed.close())
  const args = await set(bed)
  const refused = await bed.sluice('plan', ...args)
  expect([refused.code, refused.stdout + refused.stderr]).toEqual([3, expect.stringContaining(`[${code}]`)])
  const printed = lastRefusal(refused.stdout)
  const next = await take(way, printed, { bed, args })
  const plan = await bed.sluice('plan', ...next)
  return { printed, code: plan.code, said: plan.stdout + plan.stderr }
}

/** Expects that a plan is accepted (exit code 0 or 1), or refused only for the given reason. */
function assertLeft({ code, said }: Left, after: RefusalRow['after']): void {
  const refused = Array.from(said.matchAll(/^refused: .* \[(.*)\]$/gm), ([, one]) => one)
  const isAccepted = code === 0 || code === 1
  expect({ isAccepted, said, refused }).toMatchObject(
    after === undefined ? { isAccepted: true, refused: [] } : { isAccepted: false, refused: [after] },
  )
}

/** The refusals whose commands are commands of kubectl. */
const KUBECTL = new Set<RefusalCode>(['rollout-in-progress', 'update-strategy', 'workload-paused'])

test('each code has a way out', () => {
  const inTable = Object.entries(CODES).flatMap(([code, where]) => (where === 'table' ? [code] : []))
  expect([...new Set(REFUSALS.map(({ code }) => code))].toSorted()).toEqual(inTable.toSorted())
})

describe.concurrent('a refusal is left by what is printed last', () => {
  const rows = REFUSALS.flatMap((row) => row.ways.map((way) => ({ ...row, way, title: `${row.code}, ${row.name}: ${way.kind}` })))
  test.for(rows)('$title', { timeout: 120_000 }, async ({ way, ways, after, ...row }, context) => {
    if (way.kind === 'command' && KUBECTL.has(row.code) && !kubectlIsHere) context.skip('there is neither kubectl nor Go')
    const left = await leave(row, way, context)
    expect(left.printed.hint).not.toBe('')
    // The row tries the offered commands and flags.
    expect(untried(left.printed, ways)).toEqual([])
    assertLeft(left, way.kind === 'elsewhere' ? row.code : after)
  })
})

describe('a StatefulSet that is deleted in the middle', () => {
  async function openWeb({ onTestFinished }: Pick<TestContext, 'onTestFinished'>): Promise<Bed> {
    const bed = await openBed()
    onTestFinished(() => bed.close())
    bed.cluster.apply(statefulSet())
    await bed.ready(1)
    await bed.balance()
    return bed
  }

  /** Deletes the workload before the answer to a call. The first matching call only asks for the right. */
  function deletedAt(bed: Bed, verb: string, resource: string): void {
    const { apiServer } = bed.cluster
    let asks = 0
    apiServer.authorize((_by, asked) => {
      const isMeant = asked.verb === verb && asked.resource === resource && ++asks === 2
      if (isMeant) apiServer.store.remove('statefulsets.apps', 'default', 'web', 'somebody')
      return true
    })
  }

  async function assertMadeAnew(bed: Bed): Promise<void> {
    bed.cluster.apiServer.authorize(() => true)
    await bed.ready(0)
    bed.cluster.apply(statefulSet())
    await bed.ready(1)
    await bed.balance()
    expect((await bed.sluice('plan', 'sts/web', 'app=app:v3')).code).toBe(1)
  }

  test('before its plan is made', { timeout: 60_000 }, async (context) => {
    const bed = await openWeb(context)
    deletedAt(bed, 'list', 'configmaps')
    const { code, stdout } = await bed.sluice('plan', 'sts/web', 'app=app:v2')
    expect([code, stdout]).toEqual([
      3,
      expect.stringContaining('[workload-gone]\n    Run the same command again once it is made anew'),
    ])
    await assertMadeAnew(bed)
  })

  test(
    'while the Lease is waited for: no plan is printed any more, and the last line has the way out',
    { timeout: 60_000 },
    async (context) => {
      const bed = await openWeb(context)
      await bed.sluice('upgrade', 'sts/web', 'app=app:v2')
      const { store } = bed.cluster.apiServer
      for (const { metadata } of store.list('leases.coordination.k8s.io', 'default')) {
        const held = { holderIdentity: 'dead', leaseDurationSeconds: 1 }
        store.update(
          'leases.coordination.k8s.io',
          'default',
          metadata.name,
          (now) => ({ ...now, spec: { ...(now['spec'] as object), ...held } }),
          'dead',
        )
      }
      deletedAt(bed, 'update', 'leases')
      const { code, stdout } = await bed.sluice('upgrade', 'sts/web', 'app=app:v3')
      expect([code, stdout.trimEnd().split('\n').at(-1)]).toEqual([
        3,
        expect.stringMatching(/statefulset\/web was deleted meanwhile\. Run the same command again once it is made anew/),
      ])
      await assertMadeAnew(bed)
    },
  )
})

test('a command line with two images for one container is refused before there is a plan', async ({ onTestFinished }) => {
  const bed = await openBed()
  onTestFinished(() => bed.close())
  expect(await bed.sluice('plan', 'sts/web', 'app=app:v2', 'app=app:v3')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('container app is given twice'),
  })
})

describe('negative controls', () => {
  const row = REFUSALS.find(({ code }) => code === 'not-in-load-balancer')!

  test('a flag that does not help is caught', async (context) => {
    const wrong: Way = { kind: 'arguments', take: (_, args) => [...args, '--accept-template-drift'] }
    const left = await leave(row, wrong, context)
    expect(left).toMatchObject({ code: 3, said: expect.stringContaining('[not-in-load-balancer]') })
    expect(() => assertLeft(left, undefined)).toThrow('refused')
  })

  test('a command that is refused is caught', async (context) => {
    const bed = await openBed()
    context.onTestFinished(() => bed.close())
    bed.cluster.apply(statefulSet())
    await bed.ready(1)
    await bed.balance()
    const printed = { text: '', hint: 'Say so:', command: 'sluice resolve pod/web-0 -n default --traffic out' }
    await expect(take({ kind: 'command' }, printed, { bed, args: [] })).rejects.toThrow('to match object')
  })

  test('a flag and a command that are offered and not tried are caught', () => {
    const printed = { hint: 'Accept it: --accept-template-drift.', command: 'sluice resolve pod/web-0' }
    expect(untried(printed, [{ kind: 'flag' }])).toEqual(['sluice resolve pod/web-0'])
    expect(untried(printed, [{ kind: 'command' }])).toEqual(['--accept-template-drift'])
  })
})
