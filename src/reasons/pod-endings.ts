import type { Because, LoadBalancerEntry, EntryReading, NamedImage, NoFields } from './fields.ts'
import type { Reason } from './reason.ts'

/** Of a pod that failed on its way back to its former images: why it was on that way. */
interface AfterFailure {
  after?: Reason
}

/** Of a pod that is gone: the ledger could not be told so. The next run does that. */
interface Untold {
  untold?: Because
}

/** How the upgrade of one pod ended. */
export interface PodEndings {
  /**
   * The pod runs the new images: `rotation` tells where it is. `operator`: an operator had it out of rotation, and it is left so.
   * `kept`: it was not drained, since `drain.notFor` names each container that has changed.
   */
  upgraded: { rotation: 'in' | 'none' | 'operator' | 'kept' }
  /** The pod has the wanted images already. */
  'runs-wanted-images': { ready: boolean }
  /** The request asks for no image of this pod. */
  'nothing-asked': NoFields
  'not-started': NoFields
  /** The pod was deleted, or its workload let go of it, before its turn. Nothing was drained for it. */
  'gone-before-turn': NoFields
  /** The pod is gone, and an earlier run or process has settled its entries. */
  'settled-before': { unclosed?: Because }
  /** An interrupt came before the patch. */
  'interrupted-before-patch': NoFields
  /** The process ended, and left the pod where it was. The same command goes on from there. */
  'left-as-is': NoFields
  /** The pod is back in rotation on the images that an earlier run has given it. */
  'kept-earlier-patch': NoFields
  /** The pod failed, and is back in rotation on its old images. */
  'failed-and-put-back': { failure: Reason }

  'journal-unreadable': { problem: Reason }
  /** Another owner has written the journal of the pod. */
  'journal-usurped': NoFields
  /** The record of an earlier owner could not be taken over. */
  'record-not-taken-over': Because
  /** The pod is in no load balancer, or not in each of them. */
  'not-drainable': Because
  'not-checked-in-time': Because
  /** The API server refuses the patch. */
  'patch-refused': Because
  'drain-intent-not-written': Because
  /** The load balancer refuses the drain. */
  'drain-refused': Because
  'drain-not-confirmed': Because
  /** An operator had the pod out of rotation in part, and has put it back meanwhile. */
  reclaimed: { entry: EntryReading }
  /** Requests were under way until the deadline, or the load balancers could not be read. */
  'not-empty': { readsAsIn: boolean; traffic?: Reason }
  /** Somebody put the pod back while its images could not be patched. */
  'back-before-patch': { traffic?: Reason }
  'images-not-patched': Because & AfterFailure
  /** The stored images are not the ones that were asked for. */
  'images-rewritten': { images: NamedImage[] } & AfterFailure
  /** `because` tells what the restart waited for. */
  'restart-not-proven': { because: Reason } & AfterFailure
  /** The restarted pod could not be read as out of rotation. */
  'not-read-as-out': { traffic?: Reason } & AfterFailure
  /** The kubelet can never start the image. */
  'image-cannot-start': Because
  /** `because` is absent where the pod has become ready only just now. */
  'not-ready-in-time': Because & AfterFailure
  /** An earlier process has begun to roll the pod back. */
  'rolling-back': NoFields
  'restore-intent-not-written': Because
  /** The load balancer refuses to put the pod back. */
  'restore-refused': Because
  /** The pod was not ready to be put back. It stays out of rotation. */
  'not-fit-for-restore': { traffic?: Reason }
  'restore-not-confirmed': Because
  /** Somebody has given the pod other images while it was out: nothing has proven what runs now. */
  'patched-elsewhere': { images: NamedImage[] }
  /** The pod is drained and not patched, and did not get ready in time to be put back. */
  'baseline-not-ready': NoFields
  /** The entries cannot be read back, and whether the call has arrived there is not known. */
  'effect-in-doubt': { entries: LoadBalancerEntry[]; effect: 'drain' | 'restore' } & Because
  /** The pod is back, and not as it was before. */
  'restored-differently': Because
  /** The pod is back in rotation, and its journal could not be closed. */
  'journal-not-closed': Because

  /** The pod is gone, and its entry was removed from the load balancer. */
  'settled-by-removal': Untold
  /** The pod is gone, and its entries are as they were before. */
  'settled-unchanged': Untold
  /** The replacement is at another address, and the entries of the pod that is gone are in rotation as they were. */
  'settled-elsewhere': { replacement: string; address?: string; entries: LoadBalancerEntry[] } & Untold
  /** The replacement is drained by a record of its own. */
  'settled-by-drained-replacement': { replacement: string } & Untold
  /** The replacement is back in rotation in its place. */
  'settled-by-replacement': { replacement: string } & Untold
  /** The pod is gone for good, and its entries stay out of rotation. */
  'left-out': { entries: LoadBalancerEntry[]; byRecord?: true } & Untold
  /** No ready pod of the same controller has come to the address of the pod that is gone. */
  'no-replacement-in-time': { pod: string; entries: LoadBalancerEntry[] }
  /** The entries of a pod that is gone are not put back by guess. */
  abandoned: { pod: string; entries: LoadBalancerEntry[] } & Because
  /** The entries were left out since no replacement was to come. */
  'left-out-and-replaced': { entries: LoadBalancerEntry[]; because: Reason }
  /** A failure of sluice itself. */
  bug: { error: string }
}
