import { expect, test } from 'vitest'
import type { Reason, ReasonOf } from '../../reasons/reason.ts'
import { reasonWords } from './words.ts'

/* Of each kind of reason those that say more than their code. */

const ENTRY = { loadBalancer: 'edge', target: 'web/web-0' }
const INNER = { loadBalancer: 'inner', target: 'pool/web-0' }
const PUT_BACK = { ...INNER, admin: 'in', inFlight: 0 } as const
const said = (words: string): ReasonOf<'error'> => ({ code: 'error', said: words })
const resolve = { command: 'resolve', namespace: 'shop', traffic: 'in' } as const
const NOT_PROVEN: Reason = { code: 'restart-not-proven', because: { code: 'container-not-replaced' } }
const COUNTS = { code: 'counts', upgraded: 1, already: 1, left: 0 } as const
const ABORTED = { code: 'aborted', by: 'ann', upgraded: 1, old: 3 } as const
const HELD = { code: 'lease-held', lease: 'sluice-statefulset-web', holder: 'other' } as const
const ORDERED = { code: 'run-ordered', run: 'r1', by: 'ann', exitWhenPaused: false } as const
const STAYS = { code: 'stays-on-release', workload: 'statefulset/web', pods: 1, of: 2, run: 'r1' } as const
const FINISHED = { code: 'run-finished', run: 'r1', at: '2026-01-02' } as const
const CLOSED = { code: 'said-and-closed', pod: 'web-0' } as const
const PERSON: Reason = {
  code: 'awaits-person',
  pod: 'web-2',
  entries: [
    { loadBalancer: 'edge', target: 'web/web-2' },
    { loadBalancer: 'inner', target: 'web/web-2' },
  ],
  resolve: { ...resolve, pod: 'web-2', gone: true },
}

const SENTENCES: [Reason, string | RegExp][] = [
  // How a pod ended.
  [{ code: 'left-as-is' }, 'left where it is: the same command goes on from there'],
  [{ code: 'journal-usurped' }, 'another owner has written the journal of this pod'],
  [{ code: 'not-empty', readsAsIn: false, traffic: said('3 in flight') }, 'not empty in time: 3 in flight'],
  [
    { code: 'not-empty', readsAsIn: true, traffic: said('in') },
    'not empty in time: it was drained, and reads as in rotation all the same: in',
  ],
  [
    { code: 'images-rewritten', images: [{ container: 'app', image: 'his' }] },
    'the stored images are not the ones asked for (app=his): an admission webhook or somebody else has rewritten them',
  ],
  [
    { code: 'restart-not-proven', because: { code: 'kubelet-behind', generation: 3, observed: 2 }, after: NOT_PROVEN },
    'no proof of the restart in time: the container was not replaced; and back on its former images: ' +
      'no proof of the restart in time: the kubelet has not seen the patch (generation 3, it reports 2)',
  ],
  [{ code: 'not-ready-in-time' }, /only just now$/],
  [
    { code: 'not-fit-for-restore', traffic: said('out') },
    'it was not ready to be put back in time, and stays out of rotation: out',
  ],
  [
    { code: 'reclaimed', entry: PUT_BACK },
    'an operator had it out of rotation in part, and has put it back meanwhile: inner/pool/web-0 in, 0 in flight',
  ],
  [
    { code: 'effect-in-doubt', entries: [ENTRY, INNER], effect: 'drain', because: said('no answer') },
    'edge/web/web-0, inner/pool/web-0 cannot be read back, and whether the drain has arrived there is not known: no answer',
  ],
  [
    { code: 'patched-elsewhere', images: [{ container: 'app', image: 'his' }] },
    'somebody has given it other images while it was out (app=his): nothing has proven what runs now, and it is not put back so',
  ],
  [{ code: 'failed-and-put-back', failure: said('late') }, 'late; back in rotation on its old images'],
  [
    { code: 'settled-elsewhere', replacement: 'web-9', address: '10.0.0.9', entries: [ENTRY] },
    'replaced by web-9 at another address (10.0.0.9), and its entry is in rotation as it was: edge/web/web-0',
  ],
  [
    { code: 'settled-unchanged', untold: { because: said('forbidden') } },
    'gone, and its targets are as they were before; the ledger could not be told so, which the next run does: forbidden',
  ],
  [
    { code: 'no-replacement-in-time', pod: 'web-0', entries: [ENTRY] },
    /no ready pod of the same controller has come to its address in time$/,
  ],
  [{ code: 'abandoned', pod: 'web-0', entries: [ENTRY] }, 'edge/web/web-0 was drained for web-0 and is never put back by guess'],
  // What a pod waits for.
  [{ code: 'awaits-replacement', address: '10.0.0.9' }, 'a pod in its place, at 10.0.0.9 or where its entry is pointed by then'],
  [
    { code: 'image-in-doubt', pod: 'web-0', container: 'app', image: 'app:v9', runs: 'app:v1', quietMs: 61_000 },
    "web-0's container app runs app:v1, and its spec asks for app:v9: put back once there is no change of a container for 61 s",
  ],
  [{ code: 'ready-for' }, 'ready, for readyFor'],
  [{ code: 'unprobed' }, 'ready, says a restarted kubelet that has probed nothing yet: a probe has time to fail'],
  [{ code: 'awaits-settlement', pod: 'web-2' }, 'what was drained for web-2 at its address is not settled yet'],
  [{ code: 'cannot-watch' }, 'the pods cannot be watched at this moment'],
  [{ code: 'cannot-watch', workload: 'statefulset/web' }, 'statefulset/web cannot be watched at this moment'],
  [{ code: 'replacement-not-ready', replacement: 'web-3' }, 'web-3 in its place is not known to be ready'],
  // What the load balancers say.
  [{ code: 'pod-without-address', pod: 'web-0' }, 'web-0 has no address yet'],
  [{ code: 'no-port', pod: 'web-0', port: 'admin' }, 'no container of web-0 has a port named "admin"'],
  [{ code: 'not-found', loadBalancer: 'edge', said: 'two entries have its address' }, 'edge: two entries have its address'],
  [{ code: 'at-new-address', address: '10.0.0.9', entries: [ENTRY] }, 'at its new address 10.0.0.9 it is edge/web/web-0'],
  [{ code: 'at-new-address', address: '10.0.0.9', entries: [] }, /in no load balancer/],
  [
    { code: 'job-accepted', loadBalancer: 'edge', effect: 'drain', job: 'job-1' },
    'edge: the drain was accepted (job-1), and is not done yet',
  ],
  [{ code: 'other-job', loadBalancer: 'edge', scope: 'pool' }, 'edge: a change of pool was accepted, and is not done yet'],
  [{ code: 'gets-no-requests', entry: PUT_BACK }, 'it gets no requests: inner/pool/web-0 in, 0 in flight'],
  [
    { code: 'entries-read', entries: [{ ...ENTRY, admin: 'out', inFlight: null, by: { code: 'said-by-person' } }] },
    /as a person says/,
  ],
  [
    { code: 'entry-differs', ...ENTRY, now: '{"weight":5}', before: '{"weight":1}' },
    'edge/web/web-0 is {"weight":5}, it was {"weight":1}',
  ],
  [{ code: 'has-other-containers', pod: 'web-0' }, 'web-0 has other containers by now, or is about to get others'],
  [{ code: 'readiness-unknown', pod: 'web-0' }, 'nobody knows whether web-0 is ready: the pods cannot be watched'],
  [{ code: 'pod-moved', pod: 'web-0' }, 'web-0 is at another address'],
  // How a run ended.
  [COUNTS, '1 upgraded, 1 at the wanted images already'],
  [{ ...COUNTS, left: 1 }, '1 upgraded, 1 at the wanted images already, 1 left as it is'],
  [{ ...COUNTS, left: 2 }, '1 upgraded, 1 at the wanted images already, 2 left as they are'],
  [
    { code: 'pods', pods: [{ uid: 'u', pod: 'web-0', reason: said('gone'), failed: said('it crashed') }] },
    'web-0: it crashed; gone',
  ],
  [{ code: 'overlooked', pods: ['web-2', 'web-0'] }, /^not settled: web-2, web-0: .*the same command/],
  [
    { code: 'run-not-ended', because: said('refused') },
    'this process has not ended the run: refused; while it is open its abort stays ordered',
  ],
  [ABORTED, 'by ann; 1 on their new images, 3 left on their old ones'],
  [{ ...ABORTED, open: 4 }, 'by ann; of the open pods, 1 on their new images, 3 left on their old ones'],
  [{ ...ABORTED, open: 0 }, 'by ann; no pod was open'],
  [
    { code: 'stays-open', runs: [{ pods: ['web-0'] }, { run: 'r2', pods: ['web-2'] }] },
    'the run stays open for web-0, run r2 stays open for web-2: a command that names the workload goes on with all, sluice abort ends it',
  ],
  [
    { code: 'on-other-images', run: 'r1', pods: ['web-0', 'web-2'] },
    'still on other images, of run r1: pods web-0, web-2, which a command that names the workload brings to these',
  ],
  [
    { code: 'template-kept', workload: 'statefulset/web', upgraded: 1 },
    'the template of statefulset/web keeps the new images: 1 of its pods run them; sluice undo takes them back',
  ],
  [
    { code: 'made-before-put-back', pods: ['web-1'] },
    'web-1: made from the template before that went back, and not ready on the new images: sluice undo takes it back',
  ],
  [
    { code: 'template-of-another-run', workload: 'statefulset/web' },
    'the template of statefulset/web was left as it is: it is not part of this run any more',
  ],
  [{ code: 'abort-ordered', by: 'bob' }, 'aborted by bob: no further pod is started'],
  [{ code: 'pause-ends-run', by: 'ann' }, 'paused by ann: the run ends here'],
  [
    { code: 'window-stalled', because: { code: 'cannot-watch' }, forMs: 60_000 },
    'no pod may leave in time: the pods cannot be watched at this moment',
  ],
  // Leases, and why a run does not begin.
  [HELD, 'another run has this workload: other holds the Lease sluice-statefulset-web and has just renewed it'],
  [
    { ...HELD, pausedBy: 'ann' },
    /has just renewed it; it is paused by ann, until sluice resume or sluice abort of the same workloads$/,
  ],
  [{ code: 'lease-ran-out' }, 'the Lease could not be renewed, and has run out'],
  [{ code: 'lease-contested', leases: ['sluice-pod-web-0'] }, /^another run has come while the Lease sluice-pod-web-0/],
  [
    {
      code: 'lease-counted-out',
      lease: 'sluice-pod-a',
      transitions: 2_147_483_647,
      setBack: { command: 'kubectl', namespace: 'shop', args: ['patch', 'lease', 'sluice-pod-a'] },
    },
    'the Lease sluice-pod-a cannot be taken: its leaseTransitions is 2147483647, and there is no larger number for the next owner: somebody has edited it; with no run at work, set it back: kubectl -n shop patch lease sluice-pod-a',
  ],
  [
    { code: 'epoch-too-large', lease: 'sluice-pod-a', epoch: 9_007_199_254_740_991, largest: 1, pod: 'web-0' },
    /the journal of pod\/web-0 names the epoch 9007199254740991, .* remove its journal/,
  ],
  [
    { code: 'effects-cannot-be-made', loadBalancer: 'edge', target: 'a', others: 0, because: said('edge: no such key') },
    'drain and restore of a in the load balancer edge cannot be made: edge: no such key',
  ],
  [
    {
      code: 'half-done-not-in-config',
      pod: 'web-2',
      place: { loadBalancer: 'edge', scope: 'web' },
      resolve: { ...resolve, pod: 'web-2' },
    },
    /^pod\/web-2 is half done, and its record names "web" of the load balancer "edge", which .* sluice resolve pod\/web-2 -n shop --traffic in$/,
  ],
  [
    {
      code: 'gone-not-in-config',
      pod: 'web-gone',
      target: 'former/a',
      place: { loadBalancer: 'former' },
      targets: ['former/a', 'former/b'],
      resolve: { ...resolve, pod: 'web-gone', gone: true, loadBalancers: ['former'] },
    },
    /^pod\/web-gone is gone, and .* all of it in "former" is as .* \(former\/a and former\/b\), sluice resolve pod\/web-gone -n shop --gone --load-balancer former --traffic in$/,
  ],
  [
    { code: 'half-done-elsewhere', pod: 'web-2', entry: ENTRY },
    /^pod\/web-2 is half done, and was not drained in edge\/web\/web-0, /,
  ],
  [
    {
      code: 'deadline-shorter-than-job',
      deadline: 'drain.deadline',
      deadlineMs: 30_000,
      loadBalancer: 'edge',
      longestMs: 30_000,
    },
    /^drain.deadline is 30s, and a change of the load balancer edge may take 30s until it is done: make drain.deadline longer than 30s/,
  ],
  [
    { code: 'rights-missing', namespace: 'shop', rights: ['get pods', 'get leases'] },
    /^not allowed in namespace shop: get pods, get leases/,
  ],
  // What a plan warns of.
  [
    PERSON,
    /^edge: web\/web-2, inner: web\/web-2 was drained for pod\/web-2, which is gone, .* point the entry at the pod in its place and leave it drained.* say so: sluice resolve pod\/web-2 -n shop --gone --traffic in$/,
  ],
  [{ ...PERSON, replacementAt: '10.0.0.9' }, / in its place \(10\.0\.0\.9\) /],
  [
    { ...ORDERED, order: 'abort', command: 'upgrade' },
    'run r1 is being aborted (by ann): this upgrade goes on with it, ends it, and upgrades nothing',
  ],
  [
    { ...ORDERED, order: 'abort', command: 'undo' },
    'run r1 is being aborted (by ann): this undo goes on with it, ends it, and takes back nothing',
  ],
  [
    { ...ORDERED, order: 'pause', command: 'undo' },
    'run r1 is paused (by ann): this undo goes on with it, and waits until sluice resume, or sluice abort',
  ],
  [
    { ...ORDERED, order: 'pause', command: 'upgrade', exitWhenPaused: true },
    'run r1 is paused (by ann): this upgrade goes on with it, and exits with 5 until sluice resume, or sluice abort',
  ],
  [STAYS, '1 of 2 pods of statefulset/web run the images of run r1 and stay on them, since that had nothing to do with them'],
  [
    { ...STAYS, upgrade: { command: 'upgrade', namespace: 'shop', workloads: ['statefulset/web'] } },
    /; once the template is back, sluice upgrade statefulset\/web -n shop brings them to it$/,
  ],
  [
    { code: 'released-since', workload: 'statefulset/web', pods: 1, of: 2, run: 'r1' },
    '1 of 2 pods of statefulset/web run neither the images of run r1 nor those from before it: what has been released since is taken back with it',
  ],
  // An undo, an order, and what a person says.
  [
    { code: 'nothing-to-undo', workloads: ['statefulset/web'], recorded: false },
    'there is nothing to undo: no run of statefulset/web is on record',
  ],
  [
    { code: 'nothing-to-undo', workloads: ['statefulset/web'], recorded: true },
    'there is nothing to undo: no run of statefulset/web that is on record has changed anything',
  ],
  [
    { code: 'no-such-run', run: 'r7', workloads: ['statefulset/web'], known: ['r2', 'r1'] },
    /^no run r7 of statefulset\/web is on record .*: r2, r1$/,
  ],
  [{ code: 'run-unreadable', run: 'rx', problem: { code: 'record-not-json' } }, /run rx cannot be read/],
  [{ code: 'newest-run-unknown', workloads: ['statefulset/web'], unreadable: ['rx'] }, /rx; name one with --run/],
  [{ code: 'no-images-before', run: 'r2' }, /older sluice/],
  [{ code: 'undo-the-workload', pod: 'web-0', workloads: ['statefulset/web'] }, /undo statefulset\/web$/],
  [{ code: 'being-aborted', runs: ['r1'], by: 'ann' }, 'run r1 is being aborted (by ann), which is never taken back'],
  [{ code: 'order-may-stand', because: said('no answer') }, /once more makes sure/],
  [
    { code: 'order-stands-unsure', because: said('the API server is away') },
    /^the API server is away: .*once more makes sure of it$/,
  ],
  [{ code: 'no-pods-by-selector', selector: 'app=none', namespace: 'shop' }, /no pods match app=none/],
  [{ ...CLOSED, patchedAndUnready: false }, 'pod/web-0 is in rotation, as you say: its record is closed'],
  [
    { ...CLOSED, patchedAndUnready: true },
    'pod/web-0 is in rotation, as you say: its record is closed; it is patched and not ready, and no run puts it back any more',
  ],
  [{ code: 'said-of-pod', traffic: 'in', loadBalancers: [] }, 'a person has said that it is in rotation'],
  [{ code: 'said-of-pod', traffic: 'out', loadBalancers: ['edge'] }, 'a person has said that it is out of rotation in edge'],
  [
    {
      code: 'several',
      reasons: [
        { code: 'said-of-entries', traffic: 'in', entries: [ENTRY] },
        { code: 'rest-unsaid', entries: [INNER] },
      ],
    },
    'a person has said that edge/web/web-0 is as it should be; inner/pool/web-0 is left',
  ],
  [{ code: 'said-of-former-pod', pod: 'web-0', entries: [ENTRY], traffic: 'in' }, /is as it should be, as you say: no run asks/],
  [
    { code: 'said-of-former-pod', pod: 'web-0', entries: [ENTRY], traffic: 'out' },
    /stays out of rotation, as you say: no run puts it back/,
  ],
  [{ code: 'pod-is-gone', pod: 'web-0' }, /^pod\/web-0 is gone, and a run puts its entries back/],
  [{ code: 'pod-at-other-address', pod: 'web-0' }, /point them at it/],
  [
    { code: 'two-pods-of-name', pod: 'web-0', live: [ENTRY], gone: [ENTRY, INNER] },
    /^two pods had the name web-0, .*for the one that is there \(edge\/\S+\), and for one that is gone \(edge\/\S+, inner\/\S+\): .* --live .* --gone /,
  ],
  [{ code: 'say-first-where-in', pod: 'web-0', loadBalancers: ['edge'] }, /say first which of edge it is in/],
  [
    { code: 'said-in-before', pod: 'web-0', loadBalancers: ['edge'] },
    /it is in rotation in edge, as was said before: put it back in the others by hand, and say --traffic in/,
  ],
  [{ code: 'nothing-on-record', pod: 'web-0' }, /no ledger says what was drained/],
  [
    { code: 'nothing-to-resolve', pod: 'web-0', namespace: 'shop', of: 'any' },
    /^there is nothing to resolve: nothing is open for pod\/web-0 in namespace shop$/,
  ],
  [
    { code: 'nothing-to-resolve', pod: 'web-0', namespace: 'shop', of: 'live' },
    /nothing is open for the present pod\/web-0 in namespace shop/,
  ],
  [{ code: 'nothing-to-resolve', pod: 'web-0', namespace: 'shop', of: 'gone' }, /nothing is left of a former pod\/web-0/],
  [
    { code: 'not-in-named-load-balancers', pod: 'web-0', known: ['edge'], named: ['inner'] },
    /pod\/web-0 is on record in edge, not in inner/,
  ],
  [
    { code: 'not-all-recorded', because: said('no answer') },
    'no answer: not all of it may be recorded; the same command once more makes sure of it',
  ],
  [{ code: 'report-not-told', because: said('refused') }, 'it is recorded, and no report of the run will tell of it: refused'],
  // What a cleanup removes and keeps.
  [{ ...FINISHED, undo: 'never' }, 'run r1 finished at 2026-01-02'],
  [{ ...FINISHED, undo: 'not-then' }, 'run r1 finished at 2026-01-02; it can then not be undone'],
  [{ ...FINISHED, undo: 'no-more' }, 'run r1 finished at 2026-01-02; it cannot be undone any more'],
  [
    { code: 'workload-gone-for-good', run: 'r1', workloads: ['statefulset/web'] },
    'nothing of run r1 is open, and statefulset/web is gone',
  ],
  [
    { code: 'run-needed', run: 'r1', finished: true, by: { need: 'undo', run: 'r2' } },
    'run r1 is finished, and needed still: run r2, which is not finished, takes it back',
  ],
  [
    { code: 'run-needed', run: 'r2', finished: false, by: { need: 'settled', run: 'r1' } },
    'run r2 is not finished, and needed still: it has settled pods of run r1, which is not finished',
  ],
  [
    { code: 'run-needed', run: 'r2', finished: true, by: { need: 'shared', run: 'r1' } },
    'run r2 is finished, and needed still: it has gone on with part of run r1, which is not finished',
  ],
  [
    { code: 'run-needed', run: 'r1', finished: true, by: { need: 'workloads', workloads: ['statefulset/api'] } },
    'run r1 is finished, and needed still: it is of statefulset/api too',
  ],
  [{ code: 'run-not-finished', run: 'r2' }, 'run r2 is not finished: the same command goes on with it, and sluice abort ends it'],
]
const whole = SENTENCES.flatMap(([reason, words]) => (typeof words === 'string' ? [{ reason, words }] : []))
const inPart = SENTENCES.flatMap(([reason, words]) => (typeof words === 'string' ? [] : [{ reason, words }]))

test.each(whole)('$reason.code: $words', ({ reason, words }) => {
  expect(reasonWords(reason)).toBe(words)
})

test.each(inPart)('$reason.code: $words', ({ reason, words }) => {
  expect(reasonWords(reason)).toMatch(words)
})
