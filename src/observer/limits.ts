/* From where on a change is a finding. */

/** A sweep: writes to so many objects that change no address, with no longer gap between them. */
export const SWEEP_OBJECTS = 20
export const SWEEP_GAP_MS = 10_000

/** A backlog: so many Services wait at once, the first of them for so long. */
export const BACKLOG_SERVICES = 10
export const BACKLOG_AFTER_MS = 5_000
/** Lags grow where the mean of the newer half of so many is larger than that of the older half by this factor. */
export const BACKLOG_LAGS = 20
export const BACKLOG_GROWTH = 1.2

/** What the controller manager has said of itself is told for so long: its metrics are read each 5 s. */
export const MANAGER_FRESH_MS = 20_000

/** Two writers: each has put back its own content, within this time. */
export const UNDO_WITHIN_MS = 600_000

/** A pod flaps: it has turned not ready so often within this time. */
export const FLAPS = 3
export const FLAPS_WITHIN_MS = 300_000
/** An entry flaps: having come back, it has stayed no longer than this. It is told once within the time above. */
export const ENTRY_STAYS_MS = 30_000

/** A node is not ready and its pods turn not ready, with no longer time between the two. */
export const HEARTBEAT_WITHIN_MS = 60_000
/** The pods of a node do not turn at once. */
export const HEARTBEAT_COLLECT_MS = 3_000

/** What changes later than this follows something else. */
export const FOLLOWS_WITHIN_MS = 600_000
