import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Behaviour } from '../../sim/kubelet/behaviour.ts'
import { kubernetesVersions } from '../cluster/kubernetes-versions.ts'
import { readGolden, strangers } from './golden.ts'
import { scenarios } from './scenarios.ts'
import { playSimulated } from './simulated-bed.ts'

/* The embedded cluster shows only what a real one has shown, whatever the seed. */

const SEEDS = 50

test('every scenario has a golden file, and every golden file a scenario', () => {
  const entries = readdirSync(new URL('../golden/kubelet/', import.meta.url), { withFileTypes: true })
  const [folders, files] = [entries.filter((entry) => entry.isDirectory()), entries.filter((entry) => entry.isFile())]
  const known = scenarios.map(({ name }) => `${name}.json`).sort()
  expect(files.map(({ name }) => name).sort()).toEqual(known)
  // Other versions have files where they differ.
  for (const { name, parentPath } of folders) {
    expect(kubernetesVersions).toContain(name)
    expect(known).toEqual(expect.arrayContaining(readdirSync(join(parentPath, name))))
  }
})

describe.each(scenarios)('$name', (scenario) => {
  test('is played as on the real cluster', async () => {
    const golden = readGolden(scenario.name)!
    for (let seed = 1; seed <= SEEDS; seed++) {
      const strange = strangers(golden, await playSimulated(scenario, seed))
      expect(strange, `seed ${seed}`).toEqual({})
    }
  })
})

// Negative controls: kubelets that tell things in another order than real ones.
const wrong: [lie: keyof Behaviour, scenario: string][] = [
  ['readyResetAtOnce', 'image-change-without-probe'],
  ['imageIdEarly', 'image-change'],
  // A status that lasts for as long as a preStop hook is skipped by no kubelet, however busy.
  ['observedGenerationLate', 'pre-stop'],
]

test.each(wrong)('a kubelet with %s is caught by %s', async (lie, name) => {
  const scenario = scenarios.find((one) => one.name === name)!
  const golden = readGolden(name)!
  for (let seed = 1; seed <= SEEDS; seed++) {
    const strange = strangers(golden, await playSimulated(scenario, seed, { kubelet: { [lie]: true } }))
    expect(Object.keys(strange), `seed ${seed}`).toContain('web')
  }
})
