import { expect, test } from 'vitest'
import { diagnose } from '../../doctor/doctor.ts'
import { FAULTS } from '../../doctor/testing/faults.ts'
import { healthy } from '../../doctor/testing/healthy.ts'
import { createWriting } from '../../report/words/words.ts'
import { createColors } from './color.ts'
import { doctorDocument, doctorLines } from './doctor-view.ts'

const write = createWriting()
const plain = createColors(false)

test('of a healthy cluster there is the list, and nothing else', () => {
  const lines = doctorLines(diagnose(healthy()), plain, write)
  expect(lines.filter((line) => !/^(?:√ .*|[a-z ]+|-+|)$/.test(line))).toEqual([])
  expect(lines.at(-1)).toBe('√ 20 passed')
  expect(lines.slice(0, 4)).toEqual(['cluster', '-------', '√ the API server answers', '√ a run has the rights that it needs'])
})

test('below a check there is what was found, what to do, and the page', () => {
  const lines = doctorLines(diagnose(FAULTS['control-plane-part-silent'][0]!), plain, write)
  const at = lines.findIndex((line) => line.startsWith('×'))
  expect(lines.slice(at, at + 5)).toEqual([
    '× the scheduler is at work',
    '    kube-scheduler has not renewed its Lease for 4m00s, which lasts 15 s (held by kube-scheduler_1): no pod gets a node',
    '      see whether it runs; on a managed cluster, ask the provider:',
    '        kubectl -n kube-system get pods -l component=kube-scheduler',
    '      see docs/doctor.md#control-plane-part-silent',
  ])
  expect(lines.at(-1)).toBe('× 19 passed, 1 failed')
})

test('a check that was skipped says why', () => {
  const gathered = structuredClone(healthy()) as { probe?: unknown }
  delete gathered.probe
  const lines = doctorLines(diagnose(gathered as never), plain, write)
  const at = lines.findIndex((line) => line.startsWith('- '))
  expect(lines.slice(at, at + 2)).toEqual([
    '- a new Service gets its endpoints at once',
    '    not looked at: --probe makes a Service, and removes it',
  ])
})

test('what a cluster says has no effect on the terminal', () => {
  const gathered = structuredClone(FAULTS['node-not-ready'][1]!)
  const nodes = gathered.listed.nodes as unknown as { value: { status: { conditions: { reason: string }[] } }[] }
  nodes.value[0]!.status.conditions[0]!.reason = '\u001b[2Jgone\nsecond line'
  const text = doctorLines(diagnose(gathered), plain, write).join('\n')
  expect(text).not.toContain('\u001b')
  expect(text).toContain('(\\u001b[2Jgone second line)')
})

test('the document has each finding with its English, what to do and its page', () => {
  const document = doctorDocument(diagnose(FAULTS['run-open'][0]!), write) as { checks: { check: string }[] }
  expect(document).toMatchObject({ apiVersion: 'sluice.dev/v1', kind: 'DoctorReport', namespace: 'shop', outcome: 'warning' })
  expect(document.checks.find(({ check }) => check === 'open-records')).toEqual({
    check: 'open-records',
    group: 'records',
    title: 'no run is left half done',
    outcome: 'warning',
    findings: [
      {
        code: 'run-open',
        severity: 'warning',
        namespace: 'shop',
        workload: 'statefulset/web',
        run: 'r2',
        startedAt: '2026-01-01T11:59:00.000Z',
        ordered: 'pause',
        message:
          'run r2 of statefulset/web in namespace shop, begun at 2026-01-01T11:59:00.000Z, is not finished, and paused; no process has it',
        hint: 'go on with it, with the same images, or end it by sluice abort:\n  sluice upgrade statefulset/web -n shop',
        page: 'docs/doctor.md#run-open',
      },
    ],
    skipped: [],
  })
})

test('of what is wrong with many objects ten are told, and how many there are', () => {
  const gathered = structuredClone(FAULTS['node-not-ready'][0]!)
  const nodes = gathered.listed.nodes as unknown as { value: { metadata: { name: string } }[] }
  const [node] = nodes.value
  nodes.value = Array.from({ length: 13 }, (_, index) => ({ ...node!, metadata: { name: `node-${index}` } }))
  const lines = doctorLines(diagnose(gathered), plain, write)
  expect(lines.filter((line) => line.includes('does not report')).length).toBe(10)
  expect(lines).toContain('    and 3 more of node-not-ready: -o json has all')
})
