import SatchelAssets
import SatchelCore
import SatchelJSON

/// How much of an offline region is stored.
public enum RegionState: String, Sendable, CaseIterable {
  /// No download has begun.
  case new
  /// A part is missing: a request is left or has failed, an entity is missing, or an asset is not here.
  case partial
  case complete
  /// All of it is stored, and some of it is expired.
  case stale
}

/// The sizes of an offline region: what is here, and what is to come as far as the store knows.
public struct RegionSize: Sendable, Equatable, JSONConvertible {
  /// The requests for content that a download makes, and those that are left.
  public var requests = 0
  public var requestsLeft = 0
  /// The sections and entities that are here.
  public var sections = 0
  public var entities = 0
  /// The entities whose content is no longer stored, and those that are expired.
  public var missing = 0
  public var expired = 0
  /// The bytes of the content that is here.
  public var bytes: Int64 = 0
  /// The assets that are here, and their bytes.
  public var assets = 0
  public var assetBytes: Int64 = 0
  /// The assets that are to come, the bytes of those whose size is known, and the number of the others.
  public var assetsLeft = 0
  public var assetBytesLeft: Int64 = 0
  public var unknownSizes = 0
  /// The assets that are larger than the region's limit.
  public var tooLarge = 0

  public init() {}

  /// The bytes of content and assets that are here.
  public var totalBytes: Int64 { bytes + assetBytes }

  public var json: JSONValue {
    [
      "requests": .int(Int64(requests)), "requests_left": .int(Int64(requestsLeft)),
      "sections": .int(Int64(sections)), "entities": .int(Int64(entities)), "missing": .int(Int64(missing)),
      "expired": .int(Int64(expired)), "bytes": .int(bytes), "assets": .int(Int64(assets)),
      "asset_bytes": .int(assetBytes), "assets_left": .int(Int64(assetsLeft)),
      "asset_bytes_left": .int(assetBytesLeft), "unknown_sizes": .int(Int64(unknownSizes)),
      "too_large": .int(Int64(tooLarge)),
    ]
  }
}

/// A part of an offline region that a download could not get.
public struct RegionFailure: Sendable, Equatable, JSONConvertible {
  /// The location of a request for content; nil for an asset.
  public var location: Location?
  /// The section of the request; nil for all of the location.
  public var section: String?
  /// The asset; nil for a request for content.
  public var asset: Asset?
  public var message: String

  public var json: JSONValue {
    [
      "location": location?.json ?? .null, "section": section.map { .string($0) } ?? .null,
      "asset": asset?.json ?? .null, "message": .string(message),
    ]
  }
}

/// An offline region with its state.
public struct RegionSummary: Sendable, Equatable, JSONConvertible {
  public var name: String
  public var definition: RegionDefinition
  public var state: RegionState
  public var size: RegionSize
  /// The items that could not be downloaded when it was last tried.
  public var failed: [RegionFailure]
  /// In Unix milliseconds.
  public var createdAt: Int64
  /// When its definition last changed, in Unix milliseconds.
  public var updatedAt: Int64
  /// When a download last had nothing left to do, in Unix milliseconds; nil before the first time.
  public var downloadedAt: Int64?

  public var json: JSONValue {
    [
      "name": .string(name), "definition": definition.json, "state": .string(state.rawValue),
      "size": size.json,
      "failed": .array(failed.map(\.json)), "created_at": .int(createdAt), "updated_at": .int(updatedAt),
      "downloaded_at": downloadedAt.map { .int($0) } ?? .null,
    ]
  }
}

/// The counts of what the deletion of an offline region removed.
public struct RegionDeletion: Sendable, Equatable, JSONConvertible {
  public var sections = 0
  public var entities = 0
  /// The bytes of these sections and entities.
  public var bytes: Int64 = 0
  public var assets = 0
  public var assetBytes: Int64 = 0
  /// The number of bytes by which the store's file shrank.
  public var fileBytes: Int64 = 0
  /// The files of assets that are deleted by a later prune, because a reader, a player or a backup uses files of the
  /// folder.
  public var waitingFiles = 0

  public init() {}

  public var json: JSONValue {
    [
      "sections": .int(Int64(sections)), "entities": .int(Int64(entities)), "bytes": .int(bytes),
      "assets": .int(Int64(assets)), "asset_bytes": .int(assetBytes), "file_bytes": .int(fileBytes),
      "waiting_files": .int(Int64(waitingFiles)),
    ]
  }
}
