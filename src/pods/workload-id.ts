/** A kind of object, with its names in the API. */
export interface KindName {
  /** The API group; empty for the core group. */
  group: string
  version: string
  /** Such as `StatefulSet`. */
  kind: string
  /** Such as `statefulsets`. */
  plural: string
}

/** One object of a kind, within a namespace. */
export interface WorkloadId extends KindName {
  name: string
}

type OfKind = Pick<KindName, 'group' | 'kind'>
/** The fields that identify a workload within its namespace. */
export type WorkloadKey = OfKind & Pick<WorkloadId, 'name'>
/** The owner in the form of an owner reference. */
type OwnerName = { apiVersion: string; kind: string; name: string }

/** The API groups of Kubernetes whose kinds are named without them; kubectl prefers these groups for `statefulset/web`. */
const UNNAMED_GROUPS = new Set(['', 'apps'])

/** Compares the group too, because groups can share kind names. The version is not compared. */
export function isSameKind(one: OfKind, other: OfKind): boolean {
  return one.kind === other.kind && one.group === other.group
}

/** Compares by name: a workload that was deleted and created again counts as the same workload, with another uid. */
export function isSameWorkload(one: WorkloadKey, other: WorkloadKey): boolean {
  return one.name === other.name && isSameKind(one, other)
}

/** The kind that an owner reference names. */
export function kindOfOwner({ apiVersion, kind }: Pick<OwnerName, 'apiVersion' | 'kind'>): OfKind {
  return { group: apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : '', kind }
}

/** True if the owner reference names this workload, or an earlier workload of that name. */
export function isOwnedBy({ owner }: { owner?: OwnerName | undefined }, workload: WorkloadKey): boolean {
  return owner !== undefined && isSameWorkload({ ...kindOfOwner(owner), name: owner.name }, workload)
}

/** The identifying fields alone. */
export function idOf({ group, version, kind, plural, name }: WorkloadId): WorkloadId {
  return { group, version, kind, plural, name }
}

/** The id of an owner of any kind. The plural is derived from the kind, for display. */
export function ownerId(owner: OwnerName): WorkloadId {
  const { group, kind } = kindOfOwner(owner)
  const version = owner.apiVersion.slice(owner.apiVersion.indexOf('/') + 1)
  return { group, version, kind, plural: `${kind.toLowerCase()}s`, name: owner.name }
}

/** The display name: `statefulset/web`, `clonesets.apps.example.dev/web`. */
export function displayName({ name, ...kind }: WorkloadId): string {
  return `${displayType(kind)}/${name}`
}

/** The TYPE of `TYPE/NAME`, which kubectl accepts too. */
export function displayType({ group, kind, plural }: KindName): string {
  return isNamedWithoutGroup(group) ? kind.toLowerCase() : `${plural}.${group}`
}

export function isNamedWithoutGroup(group: string): boolean {
  return UNNAMED_GROUPS.has(group)
}
