/// The decisions about assets in a sync log, from values.
///
/// Rules that they follow: (1) a head names an object only after its upload; (2) what a live entry refers to has an
/// object; (3) a head names for the first time only objects of its writer's running call, or reservations; (4) an asset is
/// marked as unused by the head that has no reference to it; (5) its entry is dropped when the horizon has passed the
/// mark; (6) an object is deleted only after a head that no longer names it; (7) a failed read marks an asset as suspect,
/// and deletes nothing; (8) a device below the horizon joins from scratch.
enum AssetRules {
  /// The state of an asset that a record refers to, as far as it is known.
  struct Known: Sendable, Equatable {
    /// The entry; nil for an asset without one, for a tombstone, and for a damaged one.
    var entry: SyncAssetEntry?
    /// Whether there is anything of it in the log, a tombstone for example.
    var hasEntry = false
    /// Whether a live entry of the log refers to it.
    var isReferred = false
    /// The size of its bytes if they are here and can be read.
    var size: Int64?
    /// Where a log that was lost had it.
    var former: (size: Int64, location: SyncAssetEntry.Location)?

    static func == (one: Known, other: Known) -> Bool {
      one.entry == other.entry && one.hasEntry == other.hasEntry && one.isReferred == other.isReferred
        && one.size == other.size && one.former?.location == other.former?.location
    }
  }

  /// How a content gets into the remote.
  enum Way: Sendable, Equatable {
    /// It is there.
    case present
    /// By an upload of this call.
    case upload
    /// By an upload to a reservation.
    case complete(SyncAssetEntry.Reservation)
    /// Not in this commit: a reservation has to be written first.
    case reserve
    /// By naming the object that a lost log had, as suspect.
    case adopt(size: Int64, SyncAssetEntry.Location)
    /// Not at all, which is accepted: it is missing on all devices until one uploads it.
    case lose
  }

  /// Rule 2: how a record's content gets into the remote; nil when the record cannot go.
  ///
  /// - Parameter adopts: whether the log may have been begun after another one was lost
  static func way(_ known: Known, adopts: Bool, _ sizes: SyncSizes) -> Way? {
    if let entry = known.entry, entry.location != nil, !entry.isSuspect || known.isReferred {
      return .present
    }
    if let size = known.size { return upload(size, known.entry, sizes) }
    guard adopts, !known.hasEntry, let former = known.former else { return nil }
    return .adopt(size: former.size, former.location)
  }

  /// How the bytes that are here are uploaded, for a record or to repair an asset.
  static func upload(_ size: Int64, _ entry: SyncAssetEntry?, _ sizes: SyncSizes) -> Way {
    if size <= sizes.wholeAsset { return .upload }
    return entry?.reservations.first.map { .complete($0) } ?? .reserve
  }

  /// Whether a device that has the bytes uploads them again: the object is suspect or absent although something refers to
  /// the asset.
  static func needsRepair(_ entry: SyncAssetEntry?, isReferred: Bool) -> Bool {
    isReferred && !(entry?.isReadable ?? false)
  }

  /// Rules 4 and 5: the entry in the head with `number`, whose fold refers to it or not.
  ///
  /// - Parameter horizon: nil for a purge, which drops at once what nothing refers to
  /// - Returns: nil when it is dropped
  static func collected(
    _ entry: SyncAssetEntry, isReferred: Bool, number: Int64, horizon: Int64?
  ) -> SyncAssetEntry? {
    guard let horizon = isReferred ? 0 : horizon else { return nil }
    var entry = entry
    if isReferred {
      entry.unused = nil
    } else if let unused = entry.unused {
      if unused < horizon { return nil }
    } else {
      entry.unused = number
    }
    return entry
  }

  /// Rule 6: whether an object that a listing has shown, and that a written head does not name, can be deleted. Objects of
  /// other logs are kept while they may be adopted.
  static func isGarbage(_ object: AssetObject, of head: SyncHead) -> Bool {
    object.log == head.position.log ? object.fence < head.fence : !head.adopts
  }

  /// Rule 3: whether an upload of this call, which no head was ever prepared with, can be named by a head that replaces
  /// `head`.
  static func isUsable(_ object: AssetObject, log: String, fence: Int64) -> Bool {
    object.log == log && object.fence == fence
  }

  /// Whether so much of an object is no longer named that its living contents are uploaded again.
  static func isHalfDead(of: Int64, living: Int64) -> Bool { living < of && living * 2 <= of }
}
