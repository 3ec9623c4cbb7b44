import SatchelAssets
import SatchelCore
import SatchelJSON

/// Options of `Region.download` and `Region.update`.
public struct RegionDownloadOptions: Sendable {
  /// The number of requests that are sent at once, 1 to 16.
  public var parallel = 4
  /// After so many bytes no further asset is begun, and the call returns; nil for no limit.
  public var maxBytes: Int64?
  /// How content is requested.
  public var refresh = RefreshOptions()

  public init() {}
}

/// How far a download of an offline region is. No number but the totals depends on what is still unknown, and none of
/// what is done goes back, also when a download was broken off and begins again.
public struct RegionProgress: Sendable, Equatable, JSONConvertible {
  /// The requests and assets that are done, and all that are known so far.
  public var itemsDone = 0
  public var items = 0
  /// The bytes that are here, and these with all that are to come and whose size is known so far.
  public var bytesDone: Int64 = 0
  public var bytes: Int64 = 0

  public init() {}

  public var json: JSONValue {
    [
      "items_done": .int(Int64(itemsDone)), "items": .int(Int64(items)), "bytes_done": .int(bytesDone),
      "bytes": .int(bytes),
    ]
  }
}

/// The outcome of `Region.download` and `Region.update`.
public struct RegionReport: Sendable, Equatable, JSONConvertible {
  /// The state after the call.
  public var state = RegionState.new
  /// The requests for content that were sent, and the bytes of their answers.
  public var requests = 0
  public var contentBytes: Int64 = 0
  /// The sections that were stored, and those that had not changed.
  public var refreshed = 0
  public var unchanged = 0
  /// The requests for which the source has no content.
  public var notFound = 0
  /// The assets that were fetched, and their bytes.
  public var assets = 0
  public var assetBytes: Int64 = 0
  /// The items that failed; a later call tries it again.
  public var failed: [RegionFailure] = []
  /// The requests and assets that were left for a later call: because of `maxBytes`, or of the network.
  public var waiting = 0
  /// The sizes afterwards.
  public var size = RegionSize()

  public init() {}

  public var json: JSONValue {
    [
      "state": .string(state.rawValue), "requests": .int(Int64(requests)),
      "content_bytes": .int(contentBytes),
      "refreshed": .int(Int64(refreshed)), "unchanged": .int(Int64(unchanged)),
      "not_found": .int(Int64(notFound)),
      "assets": .int(Int64(assets)), "asset_bytes": .int(assetBytes), "failed": .array(failed.map(\.json)),
      "waiting": .int(Int64(waiting)), "size": size.json,
    ]
  }
}
