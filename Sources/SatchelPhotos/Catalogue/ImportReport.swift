import SatchelJSON

/// What became of a file, or of several.
public struct ImportReport: Sendable, Equatable {
  /// Photos in the file.
  public var photos: Int64
  /// Lines that were not taken. All but duplicates stay in the shard.
  public var rejected: [RejectedRow]
  /// Changes of this side that lost, and are in the conflict log.
  public var conflicts: Int

  public init(photos: Int64, rejected: [RejectedRow], conflicts: Int) {
    self.photos = photos
    self.rejected = rejected
    self.conflicts = conflicts
  }

  /// As it crosses the C boundary. A line's bytes that are not UTF-8 are mended in `raw`.
  public var json: JSONValue {
    ["photos": .int(photos), "rejected": .array(rejected.map(\.json)), "conflicts": .int(Int64(conflicts))]
  }
}

extension RejectedRow {
  /// As it crosses the C boundary: line, fault, reason, raw. What is no UTF-8 of the line is replaced here only.
  public var json: JSONValue { .object(fields) }

  /// As `json`, with the shard that the line is of.
  func json(in shard: Shard.Index) -> JSONValue {
    var fields = fields
    fields["shard"] = .int(Int64(shard.number))
    return .object(fields)
  }

  private var fields: JSONObject {
    [
      "line": .int(Int64(line)), "fault": .string(fault.rawValue), "reason": .string(reason),
      "raw": .string(String(decoding: raw, as: UTF8.self)),
    ]
  }
}
