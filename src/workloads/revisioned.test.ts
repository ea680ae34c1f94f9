import { KINDS } from './kinds/index.ts'
import { idNamed } from './kinds/testing/id-named.ts'
import { DAEMON_SET } from './kinds/daemon-set.ts'
import { STATEFUL_SET } from './kinds/stateful-set.ts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { PatchOperation } from '../kube/client.ts'
import { KubeError, type KubeErrorKind } from '../kube/errors.ts'
import type { WorkloadRef } from '../plan/plan.ts'
import type { Reason } from '../reasons/reason.ts'
import type { WorkloadError } from './errors.ts'
import { withObservation } from '../observation/testing/with-observation.ts'
import { openWorkload } from './open.ts'
import { type FakeApi, createFakeApi } from './testing/fake-api.ts'
import { APPS, NAMESPACE, ownerOf, pod, startRevisionController, template, workload as manifest } from './testing/manifests.ts'
import { type TestClock, createTestClock, turn } from './testing/test-clock.ts'
import type { PutBack, Workload } from './workload.ts'

const v2 = [{ container: 'app', image: 'registry/app:v2' }]
const kinds: { kind: 'StatefulSet' | 'DaemonSet'; plural: string; labels: [string, string] }[] = [
  { kind: 'StatefulSet', plural: 'statefulsets', labels: ['web-hash1', 'web-hash2'] },
  { kind: 'DaemonSet', plural: 'daemonsets', labels: ['hash1', 'hash2'] },
]

describe.each(kinds)('$kind', ({ kind, plural, labels }) => {
  const path = `${APPS}/${plural}/web`
  const ref: WorkloadRef = { ...idNamed(kind, 'web'), namespace: NAMESPACE }
  const uid = `uid-of-${path}`
  const owner = `${kind.toLowerCase()}/web`
  const otherStrategy: Reason = { code: 'strategy-changed', workload: owner, now: 'RollingUpdate', expected: 'OnDelete' }
  const changedFrom = (at: string, before: unknown, after: unknown): Reason => {
    const difference = { path: `spec.template${at}`, ...(before === undefined ? {} : { before }), after }
    return { code: 'template-changed', workload: owner, differences: [difference] }
  }
  let api: FakeApi
  let clock: TestClock
  let workload: Workload
  let controller: { release(): void }
  let errors: Error[]
  let progress: Reason[]

  beforeEach(async () => {
    api = createFakeApi()
    clock = createTestClock()
    errors = []
    progress = []
    controller = startRevisionController(api)
    api.put(path, manifest())
    await turn()
    workload = await open()
  })
  afterEach(async () => {
    await workload.stop()
    expect(errors).toEqual([])
  })

  function open(): Promise<Workload> {
    return openWorkload(
      ref,
      withObservation({
        client: api.client,
        kinds: KINDS,
        clock,
        random: { next: () => 0 },
        onError: (error: Error) => errors.push(error),
      }),
    )
  }

  function prepare(wanted = v2, signal = new AbortController().signal): Promise<void> {
    return workload.prepare(wanted, { signal, isOwned: async () => true, onProgress: (reason) => progress.push(reason) })
  }

  /** The rejection of a promise, which is watched from the start. */
  function rejection(promise: Promise<void>): Promise<WorkloadError> {
    return promise.then(
      () => expect.fail('it was not rejected'),
      (error: unknown) => error as WorkloadError,
    )
  }

  function images(): string[] {
    return api.get(path).spec.template.spec.containers.map(({ image }: { image: string }) => image)
  }

  function fault(kindOf: KubeErrorKind, status?: number): KubeError {
    return new KubeError('the answer was lost', { kind: kindOf, method: 'PATCH', path, ...(status ? { status } : {}) })
  }

  /** Fails the given number of PATCHes, before or after their effect. */
  function failPatches(when: 'before' | 'after', count: number, error: KubeError): void {
    let left = count
    api.faults[when] = (method) => {
      if (method === 'PATCH' && left-- > 0) throw error
    }
  }

  it('is opened with one list and one watch a kind, and no get', async () => {
    expect(api.calls.map(({ method, path: at }) => `${method} ${at.slice(APPS.length + 1)}`).sort()).toEqual(
      [`LIST ${plural}`, 'LIST controllerrevisions', 'WATCH controllerrevisions', `WATCH ${plural}`].sort(),
    )
    expect(workload).toMatchObject({ ref, uid, selector: { labelSelector: 'app=web' } })
    expect(workload.owns(pod({ owner: ownerOf('apps/v1', kind, 'web', uid) }))).toBe(true)
    expect(workload.owns(pod({ owner: ownerOf('apps/v1', kind, 'web', 'another') }))).toBe(false)
    expect(workload.owns(pod())).toBe(false)
  })

  it('assesses by the revisions that it watches', () => {
    const assessment = workload.assess(v2, [pod({ revision: labels[0] }), pod({ name: 'web-1', revision: 'gone' })])
    expect(assessment.refusals).toMatchObject([{ code: 'revision-unknown', pods: ['web-1'], revision: 'gone' }])
  })

  it('writes nothing where another owner has the workload by now, also where a write is tried again', async () => {
    let isOwned = false
    const prepared = (): Promise<void> =>
      workload.prepare(v2, { signal: new AbortController().signal, isOwned: async () => isOwned })
    expect(await rejection(prepared())).toMatchObject({ kind: 'conflict', reason: { code: 'owner-changed', workload: owner } })
    isOwned = true
    api.faults.before = (method) => {
      if (method !== 'PATCH') return
      isOwned = false
      throw fault('throttled', 429)
    }
    const again = rejection(prepared())
    await clock.advance(1_000)
    expect(await again).toMatchObject({ kind: 'conflict' })
    expect(images()).toEqual(['registry/app:v1', 'registry/sidecar:v1'])
  })

  it('writes the template, waits for the controller, and pins the new revision', async () => {
    await prepare()
    expect(images()).toEqual(['registry/app:v2', 'registry/sidecar:v1'])
    expect(workload.hasRevision(pod({ revision: labels[0] }))).toBe(false)
    expect(workload.hasRevision(pod({ revision: labels[1] }))).toBe(true)
    expect(workload.podOperations(pod({ revision: labels[0] }))).toEqual([
      { op: 'test', path: '/metadata/labels/controller-revision-hash', value: labels[0] },
      { op: 'replace', path: '/metadata/labels/controller-revision-hash', value: labels[1] },
    ])
    expect(api.calls.filter(({ method }) => method === 'PATCH')).toHaveLength(1)
    expect(api.calls.filter(({ method }) => method === 'GET')).toEqual([])
    expect(progress).toEqual([
      { code: 'template-patched' },
      { code: 'awaits-generation', kind, generation: 2, observed: 1 },
      { code: 'pods-take-revision', revision: labels[1] },
    ])
  })

  describe('putting the template back', () => {
    const former = [{ container: 'app', image: 'registry/app:v1' }]
    const putBack = (): Promise<PutBack> =>
      workload.putBack(former, v2, { signal: new AbortController().signal, isOwned: async () => true })
    const edit = (change: (spec: { template: { spec: { containers: { image: string }[] } } }) => void): void =>
      void api.edit(path, ({ spec }) => change(spec))

    it('gives it the images that it had, which is no drift', async () => {
      const drifts: Reason[] = []
      workload.onDrift(({ reason }) => drifts.push(reason))
      await prepare()
      expect(await putBack()).toEqual({ kind: 'done' })
      await turn()
      expect(images()).toEqual(['registry/app:v1', 'registry/sidecar:v1'])
      expect(drifts).toEqual([])
    })

    it('needs no preparation, as after a crash, and does nothing a second time', async () => {
      edit(({ template: { spec } }) => (spec.containers[0]!.image = 'registry/app:v2'))
      await turn()
      await putBack()
      expect(await putBack()).toEqual({ kind: 'done' })
      expect(images()[0]).toBe('registry/app:v1')
      expect(api.calls.filter(({ method }) => method === 'PATCH')).toHaveLength(1)
    })

    it('leaves what somebody has edited since, and names it', async () => {
      await prepare()
      edit(({ template: { spec } }) => (spec.containers[0]!.image = 'registry/app:v9'))
      await turn()
      expect(await putBack()).toEqual({
        kind: 'left',
        reason: { code: 'template-edited', workload: owner, container: 'app', image: 'registry/app:v9' },
      })
      expect(images()[0]).toBe('registry/app:v9')
    })

    it('is not there any more where the workload was deleted', async () => {
      await prepare()
      api.remove(path)
      await turn()
      expect(await putBack()).toEqual({ kind: 'left', reason: { code: 'workload-deleted', workload: owner } })
      expect(api.get(path)).toBeUndefined()
    })

    // A template may have no image, if admission sets it.
    it('leaves it where its container had no image before', async () => {
      await prepare()
      const without = [{ container: 'app', image: '' }]
      const put = workload.putBack(without, v2, { signal: new AbortController().signal, isOwned: async () => true })
      expect(await put).toEqual({ kind: 'left', reason: { code: 'no-former-image', workload: owner, container: 'app' } })
      expect(images()[0]).toBe('registry/app:v2')
    })

    it('leaves it where the controller would replace the pods', async () => {
      await prepare()
      api.edit(path, ({ spec }) => (spec.updateStrategy = { type: 'RollingUpdate' }))
      await turn()
      expect(await putBack()).toMatchObject({
        kind: 'left',
        reason: { code: 'template-left', workload: owner, because: { code: 'strategy-changed', now: 'RollingUpdate' } },
      })
      expect(images()[0]).toBe('registry/app:v2')
    })
  })

  it('writes nothing where the template has the images', async () => {
    await prepare()
    await prepare()
    await workload.stop()
    workload = await open()
    await prepare()
    expect(api.calls.filter(({ method }) => method === 'PATCH')).toHaveLength(1)
    expect(workload.hasRevision(pod({ revision: labels[1] }))).toBe(true)
  })

  it('goes back to the old revision with the old template', async () => {
    await prepare()
    await prepare([{ container: 'app', image: 'registry/app:v1' }])
    expect(workload.hasRevision(pod({ revision: labels[0] }))).toBe(true)
  })

  it('knows no revision before it is prepared', () => {
    expect(() => workload.podOperations(pod())).toThrow(
      expect.objectContaining({ reason: { code: 'not-prepared', workload: owner } }),
    )
  })

  describe('the PATCH', () => {
    it.each<[string, 'before' | 'after', KubeErrorKind, number | undefined, string[]]>([
      ['was done, and the answer lost', 'after', 'ambiguous', undefined, ['PATCH', 'GET']],
      ['was lost', 'before', 'ambiguous', undefined, ['PATCH', 'GET', 'PATCH']],
      ['failed in the server', 'before', 'ambiguous', 500, ['PATCH', 'GET', 'PATCH']],
      ['met a conflict', 'before', 'conflict', 409, ['PATCH', 'GET', 'PATCH']],
      ['was refused once, though every guard holds', 'before', 'definite', 422, ['PATCH', 'GET', 'PATCH']],
      ['was throttled', 'before', 'throttled', 429, ['PATCH', 'PATCH']],
      ['found no server', 'before', 'definite', undefined, ['PATCH', 'PATCH']],
    ])('%s', async (_name, when, errorKind, status, calls) => {
      failPatches(when, 1, fault(errorKind, status))
      const before = api.calls.length
      const prepared = prepare()
      await clock.advance(1_000)
      await prepared
      expect(api.calls.slice(before).map(({ method }) => method)).toEqual(calls)
      expect(images()[0]).toBe('registry/app:v2')
      expect(workload.hasRevision(pod({ revision: labels[1] }))).toBe(true)
    })

    it('is read again until it can be read', async () => {
      let failures = 3
      failPatches('after', 1, fault('ambiguous'))
      api.faults.before = (method) => {
        if (method === 'GET' && failures-- > 0) throw fault('ambiguous', 503)
      }
      const prepared = prepare()
      await clock.advance(10_000)
      await prepared
      expect(api.calls.filter(({ method }) => method === 'PATCH')).toHaveLength(1)
    })

    it('meets a workload that is scaled meanwhile, again and again: that is no refusal', async () => {
      let edits = 0
      api.faults.before = (method) => {
        if (method === 'PATCH' && edits < 3) api.edit(path, ({ spec }) => (spec.minReadySeconds = ++edits))
      }
      const prepared = prepare()
      await clock.advance(1_000)
      await prepared
      expect(api.calls.filter(({ method }) => method === 'PATCH')).toHaveLength(4)
      expect(images()[0]).toBe('registry/app:v2')
    })

    describe.each([{}, { team: 'web' }])(
      'that nobody has answered is late, on a workload with the annotations %j',
      (annotations) => {
        const former = [{ container: 'app', image: 'registry/app:v1' }]
        const by = { signal: new AbortController().signal, isOwned: async () => true }

        /** A patch of a process that ends; it takes effect after the next process has done its part. */
        async function arriveAfter(take: (next: Workload) => Promise<unknown>): Promise<string> {
          // An API server stores no empty map.
          if (Object.keys(annotations).length > 0) api.edit(path, ({ metadata }) => (metadata.annotations = annotations))
          await turn()
          const sent: PatchOperation[][] = []
          const { patch } = api.client
          api.client.patch = (at, operations, options) => (sent.push(operations), patch(at, operations, options))
          failPatches('before', 1, fault('ambiguous'))
          const stopping = new AbortController()
          const stopped = rejection(prepare(v2, stopping.signal))
          await turn()
          stopping.abort(new Error('stopped'))
          await stopped
          const next = await open()
          await take(next)
          await next.stop()
          await patch(path, sent[0]!).catch(() => {})
          return images()[0]!
        }

        it('is not carried out after an abort, which finds the template as it was', async () => {
          expect(await arriveAfter((next) => next.putBack(former, v2, { ...by, fence: 'r1/2' }))).toBe('registry/app:v1')
          expect(api.get(path).metadata.annotations).toEqual({ ...annotations, 'sluice.dev/fence': 'r1/2' })
        })

        it('nor after a run that wants the template as it is', async () => {
          expect(await arriveAfter((next) => next.prepare(former, { ...by, fence: 'r2/2' }))).toBe('registry/app:v1')
        })

        it('control: without a fence it is', async () => {
          expect(await arriveAfter((next) => next.putBack(former, v2, by))).toBe('registry/app:v2')
        })
      },
    )

    describe('that is fenced off', () => {
      const former = [{ container: 'app', image: 'registry/app:v1' }]
      const by = { signal: new AbortController().signal, isOwned: async () => true, fence: 'r1/2' }

      it('the put-back of a rollback that nobody has answered is late, and the same run was gone on with', async () => {
        const prepared = prepare()
        await clock.advance(1_000)
        await prepared
        const sent: PatchOperation[][] = []
        const { patch } = api.client
        api.client.patch = (at, operations, options) => (sent.push(operations), patch(at, operations, options))
        failPatches('before', 1, fault('ambiguous'))
        const stopping = new AbortController()
        const stopped = workload.putBack(former, v2, { signal: stopping.signal, isOwned: async () => true }).catch(() => {})
        await turn()
        stopping.abort(new Error('killed'))
        await stopped
        const next = await open()
        next.assess(v2, [])
        await next.prepare(v2, by)
        await next.stop()
        await patch(path, sent[0]!).catch(() => {})
        expect(images()[0]).toBe('registry/app:v2')
      })

      it('a late patch that arrives just before the fence is put back by the abort', async () => {
        let once = true
        api.faults.before = (method) => {
          if (method !== 'PATCH' || !once) return
          once = false
          api.edit(path, ({ spec }) => (spec.template.spec.containers[0].image = 'registry/app:v2'))
        }
        const put = workload.putBack(former, v2, by)
        await clock.advance(5_000)
        expect([await put, images()[0]]).toEqual([{ kind: 'done' }, 'registry/app:v1'])
      })

      it('an abort of a workload that is being deleted, whose template is as before', async () => {
        api.edit(path, ({ metadata }) => (metadata.deletionTimestamp = '2026-01-01T00:00:00Z'))
        await turn()
        expect(await workload.putBack(former, v2, by)).toEqual({ kind: 'done' })
      })

      it('an abort that may not patch the workload, whose template is as before', async () => {
        failPatches('before', Infinity, fault('definite', 403))
        expect(await workload.putBack(former, v2, by)).toEqual({ kind: 'done' })
      })

      it('a scale that is seen late is no fence', async () => {
        // The former process has seen the scale, and its patch is based on it; the watch of this process has not.
        const sent: PatchOperation[][] = []
        const { patch } = api.client
        const next = await open()
        // The patch of the former process, sent after the scale.
        const real = api.client.patch
        let first = true
        api.client.patch = async (at, operations, options) => {
          if (first) {
            first = false
            api.edit(path, ({ spec }) => (spec.minReadySeconds = 7))
            const generation = api.get(path).metadata.generation
            sent.push([
              { op: 'test', path: '/metadata/generation', value: generation },
              { op: 'test', path: '/metadata/annotations', value: null },
              { op: 'replace', path: '/spec/template/spec/containers/0/image', value: 'registry/app:v2' },
            ])
          }
          return real(at, operations, options)
        }
        const put = next.putBack(former, v2, by)
        await clock.advance(5_000)
        expect(await put).toEqual({ kind: 'done' })
        await next.stop()
        await patch(path, sent[0]!).catch(() => {})
        expect([images()[0], api.get(path).metadata.annotations]).toEqual(['registry/app:v1', { 'sluice.dev/fence': 'r1/2' }])
      })
    })

    it('sets a fence once, whatever becomes of the answer, and none where the template had to be written', async () => {
      const fenced = { signal: new AbortController().signal, isOwned: async () => true, fence: 'r1/2' }
      const former = [{ container: 'app', image: 'registry/app:v1' }]
      failPatches('after', 1, fault('ambiguous'))
      for (let time = 0; time < 2; time++) {
        const prepared = workload.prepare(former, fenced)
        await clock.advance(1_000)
        await prepared
      }
      expect(api.calls.filter(({ method }) => method === 'PATCH')).toHaveLength(1)
      await workload.prepare(v2, { ...fenced, fence: 'r1/3' })
      expect(api.get(path).metadata.annotations).toEqual({ 'sluice.dev/fence': 'r1/2' })
    })

    it('is refused for good: the template is not valid', async () => {
      failPatches('before', Infinity, fault('definite', 422))
      const error = await rejection(prepare())
      expect(error).toMatchObject({ name: 'WorkloadError', component: 'workloads', kind: 'invalid' })
      expect(error.reason).toMatchObject({ code: 'template-refused', workload: owner, because: { said: 'the answer was lost' } })
      expect(error.cause).toBeInstanceOf(KubeError)
    })

    it('is refused by admission, which is no missing right', async () => {
      const words = `${plural}.apps "web" is forbidden: exceeded quota: small`
      failPatches('before', 1, new KubeError(words, { kind: 'definite', method: 'PATCH', path, status: 403 }))
      expect(await rejection(prepare())).toMatchObject({
        kind: 'invalid',
        reason: { code: 'refused-by-api-server', because: { code: 'api-error', said: words } },
      })
    })

    it.each([
      ['known a moment later', 3, 'written'],
      ['missing', Infinity, 'forbidden'],
    ])('meets an API server that has just begun, and may not patch: the right is %s', async (_, count, end) => {
      const words = `${plural} "web" is forbidden: User "ci" cannot patch resource "${plural}" in API group "apps"`
      failPatches('before', count, new KubeError(words, { kind: 'definite', method: 'PATCH', path, status: 403 }))
      const prepared = prepare().then(
        () => 'written',
        ({ kind: refused }: WorkloadError) => refused,
      )
      await clock.advance(20_000)
      expect(await prepared).toBe(end)
    })

    it('waits for as long as nobody can say whose the workload is', async () => {
      let isOwned: boolean | undefined
      const prepared = workload.prepare(v2, { signal: new AbortController().signal, isOwned: async () => isOwned })
      await clock.advance(20_000)
      expect(api.calls.filter(({ method }) => method === 'PATCH')).toEqual([])
      isOwned = true
      await clock.advance(20_000)
      await prepared
      expect(images()[0]).toBe('registry/app:v2')
    })

    it('is never answered: the deadline has a name and a reason', async () => {
      failPatches('before', Infinity, fault('ambiguous', 504))
      const rejected = rejection(prepare())
      await clock.advance(60_000)
      expect(await rejected).toMatchObject({
        kind: 'deadline',
        deadline: 'template',
        reason: {
          code: 'template-not-in-time',
          workload: owner,
          deadlineMs: 60_000,
          waiting: { code: 'awaits-template-write' },
          because: { said: 'the answer was lost' },
        },
      })
    })

    it('stops when told to', async () => {
      failPatches('before', Infinity, fault('ambiguous'))
      const interrupt = new AbortController()
      const rejected = rejection(prepare(v2, interrupt.signal))
      await turn()
      interrupt.abort(new Error('interrupted'))
      expect(await rejected).toEqual(new Error('interrupted'))
    })

    it.each<[string, (raw: ReturnType<FakeApi['get']>) => void, Reason]>([
      [
        'the template',
        (raw) => (raw.spec.template.spec.containers[0].env[0].value = 'b'),
        changedFrom('.spec.containers[app].env[FOO].value', 'a', 'b'),
      ],
      [
        'the image',
        (raw) => (raw.spec.template.spec.containers[0].image = 'registry/app:v3'),
        changedFrom('.spec.containers[app].image', 'registry/app:v1', 'registry/app:v3'),
      ],
      ['the update strategy', (raw) => (raw.spec.updateStrategy.type = 'RollingUpdate'), otherStrategy],
    ])('meets a change of %s under way', async (_name, change, reason) => {
      let changed = false
      api.faults.before = (method) => {
        if (method !== 'PATCH' || changed) return
        changed = true
        api.edit(path, change)
      }
      const error = await rejection(prepare())
      expect(error).toMatchObject({ kind: 'conflict' })
      expect(error.reason).toEqual(reason)
    })

    it('does not reach a workload that was replaced', async () => {
      api.faults.before = (method) => {
        if (method !== 'PATCH') return
        api.remove(path)
        api.put(path, { ...manifest(), metadata: { name: 'web', namespace: NAMESPACE, uid: 'another' } })
      }
      expect(await rejection(prepare())).toMatchObject({
        kind: 'conflict',
        reason: { code: 'workload-deleted', workload: owner },
      })
      expect(images()[0]).toBe('registry/app:v1')
    })

    it('is rewritten by admission', async () => {
      const { onStored } = api
      let rewritten = false
      api.onStored = (at, object) => {
        onStored(at, object)
        if (rewritten || at !== path) return
        rewritten = true
        api.edit(path, (raw) => (raw.spec.template.spec.containers[0].image = 'mirror/app:v2'))
      }
      const error = await rejection(prepare())
      expect(error).toMatchObject({ kind: 'conflict' })
      expect(error.reason).toEqual({
        code: 'template-stored-otherwise',
        because: changedFrom('.spec.containers[app].image', 'registry/app:v2', 'mirror/app:v2'),
      })
    })
  })

  it('does not write on a template that was edited after the plan', async () => {
    workload.assess(v2, [])
    api.edit(path, (raw) => (raw.spec.template.spec.containers[0].env[0].value = 'b'))
    await turn()
    expect(await rejection(prepare())).toMatchObject({ kind: 'conflict' })
    expect(images()[0]).toBe('registry/app:v1')
    // A new plan is a new decision.
    workload.assess(v2, [])
    await prepare()
  })

  it('waits for a controller that is behind, and names it at the deadline', async () => {
    await workload.stop()
    // The former controller has no work left.
    await turn()
    controller = startRevisionController(api, { held: true })
    workload = await open()
    const rejected = rejection(prepare())
    await clock.advance(60_000)
    expect(await rejected).toMatchObject({
      kind: 'deadline',
      reason: {
        code: 'template-not-in-time',
        workload: owner,
        deadlineMs: 60_000,
        waiting: { code: 'awaits-generation', kind, generation: 2, observed: 1 },
      },
    })
    const prepared = prepare()
    await turn()
    controller.release()
    await prepared
    expect(workload.hasRevision(pod({ revision: labels[1] }))).toBe(true)
  })

  describe('drift', () => {
    const drifted: Reason[] = []
    beforeEach(async () => {
      drifted.length = 0
      workload.onDrift(({ reason }) => drifted.push(reason))
      await prepare()
    })

    it('is no scale, no status, and no annotation', async () => {
      api.edit(path, (raw) => {
        raw.spec.replicas = 7
        raw.status.readyReplicas = 2
        raw.metadata.annotations = { a: 'b' }
      })
      await turn()
      expect(drifted).toEqual([])
    })

    it.each<[string, () => void, Reason]>([
      [
        'another image',
        () => api.edit(path, (raw) => (raw.spec.template.spec.containers[0].image = 'registry/app:v3')),
        changedFrom('.spec.containers[app].image', 'registry/app:v2', 'registry/app:v3'),
      ],
      [
        'a restart by annotation',
        () => api.edit(path, (raw) => (raw.spec.template.metadata.annotations = { at: 'now' })),
        changedFrom('.metadata.annotations', undefined, { at: 'now' }),
      ],
      [
        'another update strategy',
        () => api.edit(path, (raw) => (raw.spec.updateStrategy = { type: 'RollingUpdate' })),
        otherStrategy,
      ],
      ['the end of the workload', () => api.remove(path), { code: 'workload-deleted', workload: owner }],
      [
        'the coming end of the workload',
        () => api.edit(path, (raw) => (raw.metadata.deletionTimestamp = '2026-01-01T00:00:00Z')),
        { code: 'workload-going', workload: owner },
      ],
    ])('is %s; it is told once, and to whoever asks later', async (_name, change, reason) => {
      change()
      await turn()
      if (api.get(path)) api.edit(path, (raw) => (raw.spec.template.spec.containers[1].image = 'registry/sidecar:v9'))
      await turn()
      expect(drifted).toEqual([reason])
      const late: Reason[] = []
      workload.onDrift((drift) => late.push(drift.reason))
      expect(late).toEqual([reason])
    })
  })
})

it('waits for a ControllerRevision of a DaemonSet that its watch has not brought yet', async () => {
  const api = createFakeApi()
  const path = `${APPS}/daemonsets/web`
  startRevisionController(api)
  api.put(path, manifest())
  await turn()
  const ref: WorkloadRef = { ...DAEMON_SET, name: 'web', namespace: NAMESPACE }
  const workload = await openWorkload(
    ref,
    withObservation({ client: api.client, kinds: KINDS, clock: createTestClock(), random: { next: () => 0 }, onError: () => {} }),
  )
  // The status arrives first, with the old revision as the newest known one.
  api.onStored = () => {}
  api.edit(path, (raw) => {
    raw.spec.template = template({ app: 'registry/app:v2' })
    raw.status.observedGeneration = 2
  })
  await turn()
  workload.assess([], [])
  const progress: Reason[] = []
  const prepared = workload.prepare(v2, {
    signal: new AbortController().signal,
    isOwned: async () => true,
    onProgress: (reason) => progress.push(reason),
  })
  await turn()
  expect(progress).toEqual([
    {
      code: 'awaits-revision',
      newest: {
        name: 'web-hash1',
        differences: [{ path: 'spec.template.spec.containers[app].image', before: 'registry/app:v2', after: 'registry/app:v1' }],
      },
    },
  ])
  const [, first] = api.list(`${APPS}/controllerrevisions/`)[0]!
  api.put(`${APPS}/controllerrevisions/web-hash2`, {
    ...first,
    metadata: {
      ...first.metadata,
      name: 'web-hash2',
      uid: 'second',
      labels: { ...first.metadata.labels, 'controller-revision-hash': 'hash2' },
    },
    revision: 2,
    data: { spec: { template: { ...template({ app: 'registry/app:v2' }), $patch: 'replace' } } },
  })
  await prepared
  expect(workload.hasRevision(pod({ revision: 'hash2' }))).toBe(true)
  await workload.stop()
})

it('rejects an update revision of a StatefulSet that is not its template', async () => {
  const api = createFakeApi()
  const path = `${APPS}/statefulsets/web`
  startRevisionController(api)
  api.put(path, manifest())
  await turn()
  const ref: WorkloadRef = { ...STATEFUL_SET, name: 'web', namespace: NAMESPACE }
  const ports = { client: api.client, kinds: KINDS, clock: createTestClock(), random: { next: () => 0 } }
  const options = withObservation({ ...ports, onError: () => {} })
  const workload = await openWorkload(ref, options)
  api.onStored = () => {}
  api.edit(path, (raw) => {
    raw.spec.template = template({ app: 'registry/app:v2' })
    raw.status.observedGeneration = 2
  })
  await turn()
  workload.assess([], [])
  await expect(workload.prepare(v2, { signal: new AbortController().signal, isOwned: async () => true })).rejects.toMatchObject({
    kind: 'conflict',
    reason: {
      code: 'revision-is-another',
      workload: 'statefulset/web',
      revision: 'web-hash1',
      differences: [{ path: 'spec.template.spec.containers[app].image', before: 'registry/app:v2', after: 'registry/app:v1' }],
    },
  })
  await workload.stop()
})
