import SatchelAssets
import SatchelCore
import SatchelStorage

/// The assets of a store that a sync reads and writes: the local half.
package protocol AssetStorage: Sendable {
  /// The size of an asset's bytes in bytes; nil unless they are here.
  func size(of digest: AssetDigest, _ connection: Connection) throws -> Int64?

  /// Whether the bytes of an asset are stored encrypted.
  func isSensitive(_ digest: AssetDigest, _ connection: Connection) throws -> Bool

  /// Opens bytes that are here.
  ///
  /// - Throws: `SatchelError` for bytes that cannot be read
  func open(_ digest: AssetDigest) throws -> any AssetBytes

  /// Called when bytes that are here seem to have another SHA-256: the store looks again, and then no longer has them.
  func noteDamage(of digest: AssetDigest) throws

  /// Stores an asset that is not here.
  ///
  /// - Parameters:
  ///   - size: of the asset in bytes
  ///   - isSensitive: whether the bytes are stored encrypted
  ///   - resuming: whether to continue with what an earlier download has left, if the store keeps that
  ///   - write: appends the bytes; when it throws, nothing is stored
  /// - Throws: `SatchelError` `.damaged` for bytes with another SHA-256; the errors of `write`
  func store(
    _ digest: AssetDigest, size: Int64, isSensitive: Bool, resuming: Bool,
    _ write: (any AssetDownload) throws -> Void
  ) throws
}

/// An asset that is being stored.
package protocol AssetDownload: AnyObject {
  /// The number of bytes so far.
  var count: Int64 { get }

  /// Appends verified bytes.
  func append(_ bytes: [UInt8]) throws

  /// Removes all bytes.
  func restart() throws
}

/// The assets as a sync knows them when it collects changes.
struct AssetContext: Sendable {
  /// Assets that could not be uploaded by this sync.
  var failed: [AssetDigest: SatchelError] = [:]
  /// Whether nothing is uploaded, because the line is metered.
  var isHeld = false
  /// Assets for which this sync has reserved an object: it does so once for each, so that it ends, whatever becomes of
  /// the reservation.
  var reserved: Set<AssetDigest> = []
  /// Assets whose object could not be read by this sync, and those that could.
  var suspects: Set<AssetDigest> = []
  var cleared: Set<AssetDigest> = []
  /// Whether records are sent whose assets no device has.
  var acceptsLoss = false
  /// Whether contents are sealed again whose keys were shown.
  var reseals = true
  /// Whether all entries are searched for assets without an object.
  var searches = false
}

/// The uploads and entries of assets in one commit: a value, made with the changes that it sends.
struct AssetPlan: Sendable {
  /// The sizes of contents that are uploaded, without a reservation,
  var uploads: [AssetDigest: Int64] = [:]
  /// and to one;
  var completions: [AssetDigest: (size: Int64, reservation: SyncAssetEntry.Reservation)] = [:]
  /// large ones that are reserved, and uploaded by the next commit;
  var reservations: [AssetDigest: Int64] = [:]
  /// assets that this sync has reserved before, and whose records may come later;
  var reserved: Set<AssetDigest> = []
  /// objects of a lost log that are named again.
  var adoptions: [AssetDigest: (size: Int64, location: SyncAssetEntry.Location)] = [:]
  /// Assets that no device has, whose records are sent.
  var lost: Set<AssetDigest> = []
  /// Of the uploads, the contents that are not here: they are read from where they are.
  var former: [AssetDigest: (size: Int64, location: SyncAssetEntry.Location)] = [:]
  /// Whether all contents were sealed again.
  var isResealed = false
  /// Of all these, the assets that the remote has lost, or that are damaged there.
  var repairs: Set<AssetDigest> = []
  /// Assets whose object could not be read, and those that could.
  var suspects: Set<AssetDigest> = []
  var cleared: Set<AssetDigest> = []
  /// Where the uploads are.
  var located: [AssetDigest: (size: Int64, location: SyncAssetEntry.Location)] = [:]
  /// The bytes of the uploads.
  var bytes: Int64 = 0

  var isEmpty: Bool {
    uploads.isEmpty && completions.isEmpty && reservations.isEmpty && adoptions.isEmpty && lost.isEmpty
      && suspects.isEmpty && cleared.isEmpty
  }

  mutating func add(_ digest: AssetDigest, _ way: AssetRules.Way, size: Int64?) {
    switch way {
    case .present: break
    case .adopt(let size, let location): adoptions[digest] = (size, location)
    case .lose: lost.insert(digest)
    case .reserve: reservations[digest] = size ?? 0
    case .upload:
      if uploads.updateValue(size ?? 0, forKey: digest) == nil { bytes += size ?? 0 }
    case .complete(let reservation):
      completions[digest] = (size ?? 0, reservation)
    }
  }
}
