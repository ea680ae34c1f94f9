import { readFileSync } from 'node:fs'
import { glob } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'

/* The places in the source that make or word a command to type. Each place has a test, or a reason why it has none. */

const ROOT = join(import.meta.dirname, '../../..')

const PLACES: Record<string, string> = {
  'src/cli/output/adapter-view.ts': 'scaffold: what follows adapter new is typed in each language',
  'src/cli/printed-commands/order-command.ts': 'endings: end, liftPause',
  'src/cli/printed-commands/resume-command.ts': 'endings: goOn, perform, untouched',
  'src/cli/printed-commands/template-command.ts': 'endings: backToTemplate, followTemplate',
  'src/cli/printed-commands/undo-command.ts': 'endings: undo',
  'src/engine/half-done-targets.ts':
    'endings: a load balancer that the config does not have any more; that of a pod that is gone has none',
  'src/engine/advice.ts': 'endings: resolve, describe; of pods that are gone or have moved: none',
  'src/engine/leases/ownership.ts': 'none: a Lease whose count is at its end',
  'src/engine/ledgers/left-of-gone.ts': 'refusals: left-open',
  'src/engine/resolving/resolution.ts': 'none: what is left after a word about a part',
  'src/engine/rollout/come-back.ts': 'none: a pod that comes in the place of one that nothing was to come for',
  'src/engine/status/read-status.ts': 'none: a ledger that cannot be read',
  'src/engine/status/pod-advice.ts': 'endings: status; of pods that are gone or have moved: none',
  'src/engine/undoing.ts': 'none: they stand in warnings',
  'src/explain/next.ts': 'test/products/finding-commands.test.ts',
  'src/plan/build-plan.ts': 'refusals: unreadable-journal',
  'src/workloads/assess-pods-alone.ts': 'refusals: workload-paused, rollout-in-progress',
  'src/report/words/doctor.ts': 'test/products/finding-commands.test.ts',
  'src/report/words/observe.ts': 'test/products/finding-commands.test.ts',
  'src/report/words/sync.ts': 'src/report/words/sync.test.ts: kubectl commands that make what sync misses',
  'src/report/words/shell.ts': 'the shell form of all that are data: those of the engine, the plan and workloads',
  'src/workloads/update-strategy.ts': 'refusals: update-strategy',
}

const AS_DATA = /command: '(?:resolve|upgrade|undo|kubectl)'|import \{[^}]*\bresolve\b[^}]*\} from '[./]*\/advice\.ts'/
const AS_WORDS =
  /return printedCommand\(|=> printedCommand\(|shellQuote\(\[|sluice (?:resolve|undo|upgrade|abort) (?:pod\/)?\$\{|kubectl (?:-n|patch) /

test('each place that words a command is known', async () => {
  const found: string[] = []
  for await (const file of glob('{src,adapters}/**/*.ts', { cwd: ROOT })) {
    // Files that define commands are no places that make one.
    const isMeant = !/\.test\.ts$|\/testing\//.test(file) && !file.startsWith('src/reasons/')
    const source = readFileSync(join(ROOT, file), 'utf8')
    if (isMeant && (AS_DATA.test(source) || AS_WORDS.test(source))) found.push(file)
  }
  expect(found.toSorted()).toEqual(Object.keys(PLACES).toSorted())
})
