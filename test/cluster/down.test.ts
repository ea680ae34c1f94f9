import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { stateFile, writeInfo } from './cluster-info.ts'

/** A temporary folder, as of another machine, so that it holds no running cluster. */
let machine: string
beforeEach(() => {
  machine = mkdtempSync(join(tmpdir(), 'sluice-down-'))
})
afterEach(() => rmSync(machine, { recursive: true }))

/** Records a cluster that has not started a process yet. */
async function record(id: string): Promise<string> {
  const dir = join(machine, 'sluice-clusters', id)
  await writeInfo({ id, dir, owner: null, init: null, apiPort: 0, kubernetes: '1.35', tools: '', identities: [], nodeName: null })
  return stateFile(dir)
}

function down(...ids: string[]) {
  const { PATH } = process.env
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(import.meta.dirname, 'down.ts'), ...ids], {
    env: { PATH, TMPDIR: machine },
    encoding: 'utf8',
  })
  return { status, stdout, stderr }
}

test('an id that no cluster has is a mistake, and takes nothing down', async () => {
  const files = [await record('mine-b'), await record('mine-a')]
  expect(down('mine-a', 'nosuchid')).toEqual({
    status: 2,
    stdout: '',
    stderr: 'error: no cluster has the id nosuchid; there are: mine-a, mine-b. Nothing was taken down.\n',
  })
  expect(files.map((file) => existsSync(file))).toEqual([true, true])
})

test('so it is where no cluster is there', () => {
  expect(down('nosuchid')).toMatchObject({ status: 2, stderr: expect.stringContaining('; there is none. ') as string })
})

test('one that is there is taken down, and no other', async () => {
  const [one, other] = [await record('mine-a'), await record('mine-b')]
  expect(down('mine-a')).toMatchObject({ status: 0, stdout: expect.stringContaining('Taken down: 1 running') as string })
  expect([existsSync(one), existsSync(other)]).toEqual([false, true])
})
