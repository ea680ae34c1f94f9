// Checks that a test reaches every reason code: runs the tests with a mark at each place in src and machines that makes a reason,
// names the places that no test reaches, and fails where no place of a code is reached, or where a test fails. The run takes ten
// minutes on two processors, so `npm run lint` and CI leave it out. Run it before a release, and after work on reasons.
//   npm run check:reached
//   npm run check:reached -- src/engine/traffic   tests with this in their path; the other places are named too
import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { startVitest } from 'vitest/node'
import { allPlaces, CODES, marked, nameOf } from './reached/places.ts'

const ROOT = resolve(import.meta.dirname, '..')

const folder = mkdtempSync(join(tmpdir(), 'sluice-reached-'))
const [sources, log] = [join(folder, 'sources'), join(folder, 'reached')]
const places = allPlaces(ROOT)

/** Writes the marked sources. Returns their texts by file. */
function writeMarked(): ReadonlyMap<string, string> {
  const files = Map.groupBy(places, ({ file }) => file)
  return new Map(
    Array.from(files, ([file, own]): [string, string] => {
      const text = marked(readFileSync(join(ROOT, file), 'utf8'), own, log)
      mkdirSync(dirname(join(sources, file)), { recursive: true })
      writeFileSync(join(sources, file), text)
      return [file, text]
    }),
  )
}

/** Runs the tests on marked sources, and reports whether all passed. A failed test proves nothing about the places that it reached. */
async function runMarked(filters: string[]): Promise<boolean> {
  const texts = writeMarked()
  const preload = pathToFileURL(join(import.meta.dirname, 'reached/load-marked.ts'))
  preload.searchParams.set('sources', sources)
  process.env['NODE_OPTIONS'] = `${process.env['NODE_OPTIONS'] ?? ''} --import=${preload.href}`
  const vitest = await startVitest(
    'test',
    filters,
    {
      root: ROOT,
      config: false,
      watch: false,
      // The cache is off, since the marks name a folder of this run.
      fsModuleCache: false,
      include: ['{src,machines}/**/*.test.ts', 'test/{simulation,embedded}/**/*.test.ts'],
      exclude: ['**/*.long.test.ts', '**/*.large.test.ts'],
      reporters: ['dot'],
      testTimeout: 120_000,
      maxWorkers: '100%',
    },
    {
      plugins: [
        {
          name: 'reached',
          enforce: 'pre',
          transform: (_: string, id: string): string | undefined => texts.get(relative(ROOT, id.replace(/\?.*$/, ''))),
        },
      ],
    },
  )
  const hasPassed = vitest.state.getCountOfFailedTests() === 0 && vitest.state.getUnhandledErrors().length === 0
  await vitest.close()
  return hasPassed
}

try {
  appendFileSync(log, '')
  const hasPassed = await runMarked(process.argv.slice(2))
  const reached = new Set(readFileSync(log, 'utf8').split('\n'))
  const missed = places.filter((place) => !reached.has(nameOf(place)))
  for (const place of missed) console.log(`${nameOf(place)}: no test comes here`)
  const found = new Set(places.flatMap((place) => (reached.has(nameOf(place)) ? [place.code] : [])))
  const unreached = [...CODES].filter((code) => !found.has(code))
  for (const code of unreached) console.error(`${code}: no test reaches this code`)
  // A mark without a place is a bug of the marks, and no reason.
  const names = new Set(places.map(nameOf))
  const unknown = [...reached].filter((one) => one !== '' && !names.has(one))
  for (const one of unknown) console.error(`${one}: reached, and no place`)
  if (!hasPassed) console.error('a test failed')
  console.log(
    `reached: ${places.length - missed.length} of ${places.length} places that make a reason, ${found.size} of ${CODES.size} codes`,
  )
  if (unreached.length > 0 || unknown.length > 0 || !hasPassed) process.exitCode = 1
} finally {
  rmSync(folder, { recursive: true, force: true })
}
