import { expect, test } from 'vitest'
import { CHECK_GROUPS, type FindingCode, severityOf } from './findings.ts'
import { CHECKS } from './checks/index.ts'
import { diagnose } from './doctor.ts'
import type { Gathered } from './gathered.ts'
import { FAULTS } from './testing/faults.ts'
import { agoText, healthy, lease, pod, read } from './testing/healthy.ts'

const planted = Object.entries(FAULTS).flatMap(([code, some]) => some.map((gathered, index) => ({ code, index, gathered })))

/** Further findings of a fault: each version that freezes Endpoints is older than the tested versions. */
const BESIDE: Readonly<Record<string, readonly string[]>> = {
  'webhook-freeze': ['version-untested'],
  // The webhook also fails closed while its server is up.
  'webhook-without-server': ['webhook-fails-closed'],
}

function findings(gathered: Gathered): string[] {
  return diagnose(gathered).checks.flatMap((check) => check.findings.map(({ code }) => code))
}

// oxlint-disable-next-line no-explicit-any
function changed(change: (gathered: any) => void): Gathered {
  const gathered = structuredClone(healthy())
  change(gathered)
  return gathered
}

test('of a healthy cluster each check has passed', () => {
  const { outcome, checks } = diagnose(healthy())
  expect(checks.filter((check) => check.outcome !== 'passed' || check.skipped.length > 0)).toEqual([])
  expect([outcome, checks.length]).toEqual(['passed', CHECKS.length])
})

test.each(planted)('$code ($index) is found by its code, and nothing else is', ({ code, gathered }) => {
  const { outcome, checks } = diagnose(gathered)
  const found = checks.flatMap((check) => check.findings)
  expect(new Set(found.map((one) => one.code))).toEqual(new Set([code, ...(BESIDE[code] ?? [])]))
  const one = found.find((each) => each.code === code)!
  expect([outcome, one.severity]).toEqual([severityOf(one), outcome])
})

test('what is in doubt is a warning: conditions of a webhook that are not evaluated, and a node that was Ready a moment ago', () => {
  const severities = (code: FindingCode): string[] => FAULTS[code].map((gathered) => diagnose(gathered).outcome)
  expect(severities('webhook-locks-itself-out')).toEqual(['failed', 'warning'])
  expect(severities('webhook-without-server')).toEqual(['failed', 'warning'])
  expect(severities('webhook-freeze')).toEqual(['failed', 'warning'])
  expect(severities('node-not-ready')).toEqual(['failed', 'failed', 'warning', 'failed'])
})

test('a freeze is found for the versions that have the fault, and not for the webhook of sluice, which avoids it', () => {
  const freezes = (version: string, patch: number, webhook = 'planted.guard.dev'): boolean => {
    const gathered = structuredClone(FAULTS['webhook-freeze'][0]!) as never as {
      server: { value: object }
      listed: { mutatingWebhooks: { value: { webhooks: { name: string }[] }[] } }
    }
    Object.assign(gathered.server.value, { version, minor: Number(version.split('.')[1]), patch })
    gathered.listed.mutatingWebhooks.value.at(-1)!.webhooks[0]!.name = webhook
    return findings(gathered as never).includes('webhook-freeze')
  }
  expect([freezes('v1.30.2', 2), freezes('v1.30.3', 3), freezes('v1.30.5', 5), freezes('v1.30.6', 6)]).toEqual([
    false,
    true,
    true,
    false,
  ])
  expect(freezes('v1.30.5', 5, 'endpoints.webhook.sluice.dev')).toBe(false)
})

test('the checks are told in the order of their groups, each once', () => {
  expect(CHECKS.map(({ name }) => name)).toEqual(Object.values(CHECK_GROUPS).flat())
})

test('what a finding says are the facts', () => {
  const of = (gathered: Gathered): unknown => diagnose(gathered).checks.flatMap((check) => check.findings)
  expect(of(FAULTS['webhook-fails-closed'][1]!)).toEqual([
    {
      code: 'webhook-fails-closed',
      severity: 'warning',
      kind: 'MutatingWebhookConfiguration',
      configuration: 'planted',
      webhook: 'planted.guard.dev',
      resources: ['endpointslices'],
      timeoutMs: 3_000,
    },
  ])
  expect(of(FAULTS['heartbeat-late'][2]!)).toMatchObject([{ node: 'node-1', ageMs: 9_000, graceMs: 16_000 }])
  expect(of(FAULTS['endpoints-by-hand'][0]!)).toMatchObject([{ by: 'kubectl-edit', addresses: ['192.0.2.9'] }])
  expect(of(FAULTS['pod-without-server'][0]!)).toMatchObject([{ pod: 'web-1', workload: 'statefulset/web', siblings: 1 }])
  expect(of(FAULTS['webhook-freeze'][0]!)).toMatchObject([
    { fixedIn: '1.31.2', webhooks: [{ webhook: 'planted.guard.dev' }] },
    {},
  ])
  expect(of(FAULTS['endpoints-labels-differ'][0]!)).toMatchObject([
    { object: 'Endpoints', name: 'web', labels: [{ name: 'injected', onEndpoints: 'yes' }] },
  ])
})

test('the worst finding of a check comes first, and is its outcome', () => {
  const gathered = changed(({ listed }) => {
    listed.nodes.value.push({ metadata: { name: 'node-2' }, status: { conditions: [{ type: 'Ready', status: 'True' }] } })
    listed.nodeLeases.value = [lease('kube-node-lease', 'node-2', 30_000), lease('kube-node-lease', 'node-1', 60_000)]
  })
  const check = diagnose(gathered).checks.find((one) => one.check === 'heartbeats')!
  expect([check.outcome, check.findings.map(({ code }) => code)]).toEqual(['failed', ['heartbeat-missed', 'heartbeat-late']])
})

test('what cannot be read skips the checks that need it, with the reason, and no other', () => {
  const because = { code: 'no-right', right: 'list nodes' }
  const gathered = changed(({ listed }) => {
    listed.nodes = { ok: false, because }
  })
  const { outcome, checks } = diagnose(gathered)
  expect(outcome).toBe('passed')
  const skipped = checks.filter((check) => check.outcome === 'skipped')
  expect(skipped.map(({ check, skipped: why }) => [check, why])).toEqual([
    ['versions', [because]],
    ['heartbeats', [because]],
  ])
})

test('a lock whose rights could not be asked for is a part that is skipped', () => {
  const unasked = { code: 'error', said: 'no answer' } as const
  const gathered = changed(({ balancers }) => {
    balancers[0].lock = { namespace: 'locks', missing: [], unasked }
  })
  const check = diagnose(gathered).checks.find((one) => one.check === 'load-balancers-answer')!
  expect(check).toMatchObject({ findings: [], skipped: [{ code: 'rights-not-asked', because: unasked }] })
})

test('a check that is skipped in part tells what it has found elsewhere', () => {
  const gathered = changed(({ listed }) => {
    listed.endpoints = { ok: false, because: { code: 'not-served', resource: 'endpoints' } }
    listed.slices.value[0].metadata.labels.injected = 'yes'
  })
  const check = diagnose(gathered).checks.find((one) => one.check === 'endpoints-labels')!
  expect(check).toMatchObject({ outcome: 'warning', findings: [{ object: 'EndpointSlice' }], skipped: [{ code: 'not-served' }] })
})

test('a namespace without Services skips their checks, as one that is mistyped', () => {
  const { checks } = diagnose(
    changed((gathered) => Object.assign(gathered, { namespace: 'shpo' }).listed.services.value.splice(0)),
  )
  const skipped = checks.filter(({ group }) => group === 'services').map(({ skipped: because }) => because)
  const nothing = [{ code: 'nothing-there', resource: 'services', namespace: 'shpo' }]
  expect(skipped).toEqual([nothing, nothing, nothing])
})

test('without a config the load balancers are skipped, and without --probe the probe', () => {
  const gathered = changed((one) => {
    delete one.balancers
    delete one.probe
  })
  const { outcome, checks } = diagnose(gathered)
  const skipped = checks.filter((check) => check.outcome === 'skipped')
  expect(outcome).toBe('passed')
  expect(skipped.map(({ check, skipped: why }) => [check, ...why.map(({ code }) => code)])).toEqual([
    ['endpoint-controller', 'probe-not-asked-for'],
    ['load-balancers-answer', 'no-config'],
    ['servers', 'no-config'],
    ['health', 'no-config'],
  ])
})

test('a node that has just joined, and was heard, is silent all the same', () => {
  const gathered = changed(({ listed }) => {
    const conditions = [{ type: 'Ready', status: 'Unknown', lastTransitionTime: agoText(20_000) }]
    listed.nodes.value.push({ metadata: { name: 'node-9', creationTimestamp: agoText(100_000) }, status: { conditions } })
  })
  expect(findings(gathered)).toEqual(['node-not-ready'])
})

test('a control plane without leader election has no Leases: that alone is no finding', () => {
  const gathered = changed(({ listed }) => {
    listed.systemLeases = read([])
  })
  expect(findings(gathered)).toEqual([])
  expect(
    diagnose(gathered)
      .checks.filter(({ outcome }) => outcome === 'skipped')
      .map(({ check }) => check),
  ).toEqual(['scheduler', 'controller-manager'])
})

test.each([
  [
    'a pod that has just been made has no node yet',
    ({ listed }: { listed: { pods: { value: unknown[] } } }) => {
      const { metadata, spec } = pod(2)
      const young = { ...metadata, creationTimestamp: agoText(5_000) }
      listed.pods.value.push({ metadata: young, spec: { ...spec, nodeName: undefined }, status: { phase: 'Pending' } })
    },
  ],
  [
    'a pod that no node has room for was looked at',
    ({ listed }: { listed: { pods: { value: unknown[] } } }) => {
      const { metadata, spec } = pod(2)
      const conditions = [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable' }]
      listed.pods.value.push({ metadata, spec: { ...spec, nodeName: undefined }, status: { phase: 'Pending', conditions } })
    },
  ],
  [
    'a pod that became Ready a moment ago is not in the load balancer yet',
    ({ listed, balancers }: never) => {
      ;(listed as { pods: { value: ReturnType<typeof pod>[] } }).pods.value.push({
        ...pod(2),
        status: {
          ...pod(2).status,
          conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: agoText(2_000) } as never],
        },
      })
      ;(balancers as { pods: unknown[] }[])[0]!.pods.push({ uid: 'uid-of-web-2', because: { code: 'error', said: 'none' } })
    },
  ],
  [
    'a node that has just joined is not Ready yet',
    ({ listed }: never) => {
      const { nodes } = listed as { nodes: { value: object[] } }
      const conditions = [{ type: 'Ready', status: 'False', reason: 'KubeletNotReady', lastTransitionTime: agoText(20_000) }]
      nodes.value.push({ metadata: { name: 'node-9', creationTimestamp: agoText(20_000) }, status: { conditions } })
    },
  ],
  [
    'a pod that is not Ready since a moment ago gets requests until the health check of its load balancer fails',
    ({ listed }: never) => {
      const [first] = (listed as { pods: { value: { status: { conditions: object[] } }[] } }).pods.value
      first!.status.conditions[2] = { type: 'Ready', status: 'False', lastTransitionTime: agoText(20_000) }
    },
  ],
  [
    'a pod that became Ready a moment ago gets no requests until the health check of its load balancer succeeds',
    ({ listed, balancers }: never) => {
      const [first] = (listed as { pods: { value: { status: { conditions: object[] } }[] } }).pods.value
      first!.status.conditions[2] = { type: 'Ready', status: 'True', lastTransitionTime: agoText(20_000) }
      const [edge] = balancers as { pods: { entries: { observation: object }[] }[] }[]
      edge!.pods[0]!.entries[0]!.observation = { admin: 'in', routable: false, inFlight: 0, detail: 'DOWN' }
    },
  ],
  [
    'a budget lets no pod go for a moment, as in each rollout',
    ({ listed }: never) => {
      const [budget] = (listed as { budgets: { value: { status: object }[] } }).budgets.value
      const conditions = [{ type: 'DisruptionAllowed', status: 'False', lastTransitionTime: agoText(20_000) }]
      Object.assign(budget!.status, { disruptionsAllowed: 0, currentHealthy: 1, conditions })
    },
  ],
  [
    'an operator has a pod out of rotation',
    ({ balancers }: never) => {
      const [edge] = balancers as { pods: { entries: { observation: object }[] }[] }[]
      edge!.pods[0]!.entries[0]!.observation = { admin: 'out', routable: false, inFlight: 0 }
    },
  ],
  [
    'a run that a process is at work on is open',
    ({ records }: never) => {
      const [one] = (records as { value: { status: { workloads: { pods: unknown[]; runs: unknown[] }[] }; live: unknown[] }[] })
        .value
      one!.status.workloads[0]!.runs.push({ id: 'r2', images: [], startedAt: agoText(1_000), finished: false })
      one!.status.workloads[0]!.pods.push({
        uid: 'u',
        name: 'web-0',
        state: 'drain',
        run: 'r2',
        attempt: 1,
        out: true,
        reasons: [],
      })
      one!.live.push({ lease: 'sluice-statefulset-web', holder: 'ci_1' })
    },
  ],
  [
    'a readiness gate is somebody’s word for a pod without a probe',
    ({ listed }: { listed: { pods: { value: unknown[] } } }) => {
      const [first] = listed.pods.value as { spec: { containers: object[]; readinessGates?: unknown[] } }[]
      first!.spec.containers = [{ name: 'app' }]
      first!.spec.readinessGates = [{ conditionType: 'lb.example.dev/ready' }]
    },
  ],
  [
    'a stale address of the controller is no edit by hand',
    ({ listed }: never) => {
      const { endpoints } = listed as { endpoints: { value: { subsets: { addresses: unknown[] }[] }[] } }
      endpoints.value[0]!.subsets[0]!.addresses.push({ ip: '10.0.0.77' })
    },
  ],
])('silent: %s', (_, change) => {
  expect(findings(changed(change as never))).toEqual([])
})

test('a finding that is to be ignored is counted alone; others of its check are told', () => {
  const gathered = changed(({ listed }) => {
    listed.nodes.value.push({ metadata: { name: 'node-2' }, status: { conditions: [{ type: 'Ready', status: 'True' }] } })
    listed.nodeLeases.value = [lease('kube-node-lease', 'node-2', 30_000), lease('kube-node-lease', 'node-1', 60_000)]
  })
  const of = (...ignore: FindingCode[]): unknown => {
    const { outcome, checks } = diagnose(gathered, ignore)
    const { findings: told, ignored } = checks.find((one) => one.check === 'heartbeats')!
    return [outcome, told.map(({ code }) => code), ignored]
  }
  expect(of('heartbeat-missed')).toEqual(['warning', ['heartbeat-late'], 1])
  expect(of('heartbeat-missed', 'heartbeat-late')).toEqual(['passed', [], 2])
})

test('more pods and Services than a call can have arguments are told by the oldest', () => {
  const gathered = changed(({ listed }) => {
    const { metadata, spec } = pod(2)
    const waiting = { metadata, spec: { ...spec, nodeName: undefined }, status: { phase: 'Pending' } }
    const [old] = listed.services.value
    listed.pods.value = [...listed.pods.value, ...Array.from({ length: 200_000 }, () => waiting)]
    listed.services.value = [...listed.services.value, ...Array.from({ length: 200_000 }, () => old)]
    listed.slices.value.shift()
  })
  const told = diagnose(gathered).checks.flatMap((check) => check.findings)
  expect(told.filter((one) => 'oldestMs' in one)).toMatchObject([
    { code: 'pods-without-scheduler', oldestMs: 3_700_000 },
    { code: 'services-without-controller', oldestMs: 3_700_000 },
  ])
})
