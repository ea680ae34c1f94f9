import type { Because, LoadBalancerEntry, EntryReading, NamedImage, NoFields } from './fields.ts'
import type { Reason } from './reason.ts'

/** For a pod that failed on its way back to its former images: the reason why it was on that way. */
interface AfterFailure {
  after?: Reason
}

/** For a pod that is gone: the ledger could not be updated. The next run updates it. */
interface Untold {
  untold?: Because
}

/** The ways in which the upgrade of one pod ends. */
export interface PodEndings {
  /**
   * The pod runs the new images; `rotation` says whether it is in rotation. `operator`: an operator had it out of rotation, and it stays
   * so. `kept`: it was not drained, because `drain.notFor` names every container that has changed.
   */
  upgraded: { rotation: 'in' | 'none' | 'operator' | 'kept' }
  /** The pod has the wanted images already. */
  'runs-wanted-images': { ready: boolean }
  /** The request has no image for this pod. */
  'nothing-asked': NoFields
  'not-started': NoFields
  /** The pod was deleted, or left its workload, before its turn. Nothing was drained for it. */
  'gone-before-turn': NoFields
  /** The pod is gone, and an earlier run or process has settled its entries. */
  'settled-before': { unclosed?: Because }
  /** An interrupt came before the patch. */
  'interrupted-before-patch': NoFields
  /** The process ended, and left the pod in its current state. The same command goes on from there. */
  'left-as-is': NoFields
  /** The pod is back in rotation on the images of an earlier run. */
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
  /** An operator had the pod out of rotation in part, and has put it back in the meantime. */
  reclaimed: { entry: EntryReading }
  /** Requests were under way until the deadline, or the load balancers were not readable. */
  'not-empty': { readsAsIn: boolean; traffic?: Reason }
  /** The entries were put back from outside while the images of the pod could not be patched. */
  'back-before-patch': { traffic?: Reason }
  'images-not-patched': Because & AfterFailure
  /** The stored images differ from the requested ones. */
  'images-rewritten': { images: NamedImage[] } & AfterFailure
  /** `because`: the condition that the restart waited for. */
  'restart-not-proven': { because: Reason } & AfterFailure
  /** The load balancers did not show the restarted pod as out of rotation. */
  'not-read-as-out': { traffic?: Reason } & AfterFailure
  /** The kubelet can never start the image. */
  'image-cannot-start': Because
  /** `because` is absent if the pod has only just become ready. */
  'not-ready-in-time': Because & AfterFailure
  /** An earlier process has begun to roll the pod back. */
  'rolling-back': NoFields
  'restore-intent-not-written': Because
  /** The load balancer refuses to put the pod back. */
  'restore-refused': Because
  /** The pod was not ready to be put back. It stays out of rotation. */
  'not-fit-for-restore': { traffic?: Reason }
  'restore-not-confirmed': Because
  /** Another client has changed the images of the pod while it was out. The images of the running containers are not proven. */
  'patched-elsewhere': { images: NamedImage[] }
  /** The pod is drained and not patched, and did not become ready in time to be put back. */
  'baseline-not-ready': NoFields
  /** The entries are not readable, and it is not known whether the call has arrived there. */
  'effect-in-doubt': { entries: LoadBalancerEntry[]; effect: 'drain' | 'restore' } & Because
  /** The pod is back in rotation, but its entries differ from their former state. */
  'restored-differently': Because
  /** The pod is back in rotation, and its journal could not be closed. */
  'journal-not-closed': Because

  /** The pod is gone, and its entry was removed from the load balancer. */
  'settled-by-removal': Untold
  /** The pod is gone, and its entries have their former state. */
  'settled-unchanged': Untold
  /** The replacement has another address, and the entries of the pod that is gone are in rotation with their former state. */
  'settled-elsewhere': { replacement: string; address?: string; entries: LoadBalancerEntry[] } & Untold
  /** The replacement is drained by a record of its own. */
  'settled-by-drained-replacement': { replacement: string } & Untold
  /** The replacement is in rotation in the place of the pod. */
  'settled-by-replacement': { replacement: string } & Untold
  /** The pod is gone for good, and its entries stay out of rotation. */
  'left-out': { entries: LoadBalancerEntry[]; byRecord?: true } & Untold
  /** No ready pod of the same controller has come to the address of the pod that is gone. */
  'no-replacement-in-time': { pod: string; entries: LoadBalancerEntry[] }
  /** The entries of a pod that is gone stay as they are, because a guess could put back the wrong pod. */
  abandoned: { pod: string; entries: LoadBalancerEntry[] } & Because
  /** The entries were left out because no replacement was expected. */
  'left-out-and-replaced': { entries: LoadBalancerEntry[]; because: Reason }
  /** A failure of sluice itself. */
  bug: { error: string }
}
