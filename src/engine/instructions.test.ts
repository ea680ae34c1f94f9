import { expect, it } from 'vitest'
import type { JournalTarget } from '../pods/glossary.ts'
import { failedInstructions, needsOperatorInstructions } from './instructions.ts'

const former = [{ name: 'app', image: 'app:v1' }]
const pod = { name: 'web-1', namespace: 'shop' }
const target = (name: string, untouched = false): JournalTarget => ({
  loadBalancer: 'edge',
  target: name,
  scope: 'web',
  prior: { state: 'ready', weight: 30 },
  untouched,
})

it('names what to look at, how it was, and how to go on', () => {
  expect(
    needsOperatorInstructions({ pod, gone: false, targets: [target('web/web-1@10.0.0.1:80'), target('spare', true)], former }),
  ).toBe(
    `Look at these entries; before the drain they were as given:
  edge: web/web-1@10.0.0.1:80, was {"state":"ready","weight":30}
Look at the pod:
  kubectl -n shop describe pod web-1
Once the cause is gone, run the same command again: it reads what is there, and goes on. An entry that was put back by hand is left so.
Where no run can know it: look yourself, half a minute from now, since a call that nobody answered may still arrive; say what you have seen, and then run the same command again:
  sluice resolve pod/web-1 -n shop --traffic out   # it gets no requests: the run goes on from there
  sluice resolve pod/web-1 -n shop --traffic in    # it is in rotation as it was: nothing is left to do for it`,
  )
})

it('does not send anybody to a pod that is gone', () => {
  const text = needsOperatorInstructions({ pod, gone: true, targets: [target('web/web-1@10.0.0.1:80')], former })
  expect(text).not.toContain('kubectl')
  expect(text).toContain('Point the entries at the pod in its place')
  // Found by a breaker: what had come in its place under its name was spoken of too.
  expect(text).toMatch(/left out for good:\n {2}sluice resolve pod\/web-1 -n shop --gone --traffic in$/)
})

// Found by a breaker: a person had said of one that it was in, and was asked about both.
it('asks of a pod that is in rotation in a part, as a person has said, about the rest alone, and not whether that is out', () => {
  const inner = { ...target('lb/web-1'), loadBalancer: 'inner' }
  const said = { ...target('web/web-1'), said: 'in' as const }
  const text = needsOperatorInstructions({ pod, gone: false, targets: [said, inner, target('spare', true)], former })
  expect(text).not.toContain('edge: ')
  expect(text).toContain('  inner: lb/web-1, was ')
  expect(text).toMatch(/\n {2}sluice resolve pod\/web-1 -n shop --load-balancer inner --traffic in$/)
  expect(text).not.toContain('--traffic out')
  const gone = needsOperatorInstructions({ pod, gone: true, targets: [said, inner], former })
  expect(gone, 'control: of one that is gone each is to be looked at').toContain('  edge: web/web-1, was ')
})

it('says of a failed pod what stays out, and how it comes back', () => {
  expect(failedInstructions({ pod, gone: false, targets: [target('web/web-1@10.0.0.1:80')], former })).toBe(
    `It stays out of rotation:
  edge: web/web-1@10.0.0.1:80, was {"state":"ready","weight":30}
See why:
  kubectl -n shop describe pod web-1
An upgrade to images that work (before this one: app=app:v1) takes it from there, and puts it back as it was.`,
  )
})
