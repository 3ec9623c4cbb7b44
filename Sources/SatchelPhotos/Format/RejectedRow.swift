import SatchelJSON

/// The reason why a line of a shard was rejected.
public enum RowFault: String, Error, Sendable, CaseIterable, CustomStringConvertible {
  case quote, bareQuote = "bare_quote", carriageReturn = "carriage_return", columns, md5, filename, size,
    photodate, modified, width, height, applePhotoID = "apple_photo_id", wrongShard = "wrong_shard",
    duplicate, replaced, discarded

  /// The reason in words.
  public var description: String {
    switch self {
    case .quote: return "a quote is not closed, or not followed by a comma or the line's end"
    case .bareQuote: return "a quote is inside a field that is not quoted"
    case .carriageReturn: return "a carriage return is inside a field that is not quoted"
    case .columns: return "a row has 8 columns, or the 7 of format 5"
    case .md5: return "the md5 is not 32 hexadecimal digits"
    case .filename: return "the filename is not UTF-8"
    case .size: return "the size is not a whole number of bytes"
    case .photodate: return "the photodate is not a number of seconds"
    case .modified: return "the modified time is not a number of seconds"
    case .width: return "the width is not a whole number of pixels"
    case .height: return "the height is not a whole number of pixels"
    case .applePhotoID: return "the applePhotoID is not UTF-8"
    case .wrongShard: return "the md5 belongs to another shard"
    case .duplicate: return "a later line has the same md5, and replaces it"
    case .replaced:
      return "the line existed only locally, and the remote's shard replaced it before it was uploaded"
    case .discarded: return "the row was in a damaged object of the remote, which was replaced"
    }
  }

  /// Whether the line stays in the shard. A duplicate does not: a photo has one row.
  var isKept: Bool { self != .duplicate && self != .replaced && self != .discarded }
}

/// A line of a shard that was rejected.
public struct RejectedRow: Sendable, Equatable {
  /// The number of the line that it begins on, counted from 1.
  public var line: Int
  public var fault: RowFault
  /// The line's bytes, without byte-order mark and line end.
  public var raw: [UInt8]

  /// The reason in words.
  public var reason: String { fault.description }
}

extension RejectedRow: JSONConvertible {
  /// The line as a JSON object: line, fault, reason, raw. Bytes that are not UTF-8 are replaced in `raw`, and
  /// only there.
  public var json: JSONValue { .object(fields) }

  /// Returns `json` with the number of the line's shard.
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
