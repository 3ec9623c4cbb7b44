import SatchelAssets
import SatchelCore
import SatchelRemote

/// An object that is written before the head that names it.
struct AssetUpload: Sendable {
  /// A content that is in the object.
  struct Content: Sendable {
    var digest: AssetDigest
    var size: Int64
    var location: SyncAssetEntry.Location
  }

  /// The outcome of an upload.
  struct Outcome: Sendable {
    var contents: [Content] = []
    var failed: [(digests: [AssetDigest], error: any Error)] = []
  }

  private let digests: [AssetDigest]
  private let object: AssetObject
  /// The size and the key of the content of a reservation; nil for an object with a new name.
  private let reserved: (size: Int64, key: [UInt8])?
  /// Where contents are that are not here, and are sealed again.
  private let former: [AssetDigest: (size: Int64, location: SyncAssetEntry.Location)]

  /// - Parameter digests: small contents, or one
  init(
    digests: [AssetDigest], object: AssetObject,
    former: [AssetDigest: (size: Int64, location: SyncAssetEntry.Location)]
  ) {
    (self.digests, self.object, self.former, reserved) = (digests, object, former, nil)
  }

  /// A large content for its reservation.
  init(_ digest: AssetDigest, size: Int64, _ reservation: SyncAssetEntry.Reservation) {
    (digests, object, reserved, former) = ([digest], reservation.object, (size, reservation.key), [:])
  }

  private func bytes(
    _ digest: AssetDigest, from storage: any AssetStorage, _ remote: SyncLogRemote
  ) throws -> any AssetBytes {
    guard let found = former[digest] else { return try storage.open(digest) }
    return try remote.content(digest, found.size, found.location)
  }

  /// Writes the object; continues what an earlier sync has left of a reserved one.
  func write(from storage: any AssetStorage, to remote: SyncLogRemote, _ sizes: SyncSizes) -> Outcome {
    guard let reserved else { return bundle(from: storage, to: remote) }
    var outcome = Outcome()
    for digest in digests {
      do {
        let seal = try AssetSeal(digest, size: reserved.size, key: reserved.key)
        let source = try SealedAsset(storage.open(digest), seal)
        try remote.upload(object, FileBody(source, name: "asset \(digest)"), whole: sizes.wholeAsset)
        let location = SyncAssetEntry.Location(object: object, of: seal.layout.length, key: reserved.key)
        outcome.contents.append(Content(digest: digest, size: reserved.size, location: location))
      } catch {
        outcome.failed.append(([digest], error))
      }
    }
    return outcome
  }

  private func bundle(from storage: any AssetStorage, to remote: SyncLogRemote) -> Outcome {
    var (bundle, outcome) = (AssetBundle(), Outcome())
    for digest in digests {
      do {
        try bundle.add(digest, bytes(digest, from: storage, remote))
      } catch {
        outcome.failed.append(([digest], error))
      }
    }
    if bundle.contents.isEmpty { return outcome }
    do throws(ObjectStoreError) {
      try remote.upload(object, bundle.body)
    } catch {
      outcome.failed.append((bundle.contents.map(\.digest), error))
      return outcome
    }
    for content in bundle.contents {
      let location = SyncAssetEntry.Location(
        object: object, offset: content.offset, of: Int64(bundle.body.count), key: content.key)
      outcome.contents.append(Content(digest: content.digest, size: content.size, location: location))
    }
    return outcome
  }
}

/// Sealed contents that share an object.
struct AssetBundle {
  struct Content {
    var digest: AssetDigest
    var size: Int64
    var offset: Int64
    var key: [UInt8]
  }

  private(set) var contents: [Content] = []
  private(set) var body: [UInt8] = []

  /// - Throws: `SatchelError` for bytes that cannot be read, or have another SHA-256: nothing is added
  mutating func add(_ digest: AssetDigest, _ bytes: any AssetBytes) throws {
    let key = AssetSeal.newKey()
    let sealed = try SealedAsset(bytes, AssetSeal(digest, size: bytes.size, key: key)).sealed()
    contents.append(Content(digest: digest, size: bytes.size, offset: Int64(body.count), key: key))
    if body.isEmpty { body = sealed } else { body += sealed }
  }

  /// Divides contents into objects: small ones share them.
  static func bundles(_ contents: [AssetDigest: Int64], _ sizes: SyncSizes) -> [[AssetDigest]] {
    var (bundles, length) = ([[AssetDigest]](), Int64.max)
    for (digest, size) in contents.ordered(by: { $0.key < $1.key }) where size <= sizes.smallAsset {
      let sealed = AssetLayout(size: size).length
      if length > sizes.assetBundle - sealed {
        bundles.append([])
        length = 0
      }
      bundles[bundles.count - 1].append(digest)
      length += sealed
    }
    return bundles + contents.filter { $1 > sizes.smallAsset }.keys.ordered().map { [$0] }
  }
}
