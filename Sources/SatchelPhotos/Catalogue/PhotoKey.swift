import SatchelCore

/// A photo's sort key.
struct PhotoKey: Equatable {
  /// The date, when the order is by photodate; else 0.
  var photodate: Int64 = 0
  /// The name, when the order is by filename; else empty.
  var filename: [UInt8] = []
  var md5: MD5
}

extension PhotoKey {
  /// Returns the key as a cursor of a query: an opaque string for callers.
  func cursor(_ query: PhotoQuery) -> String {
    let sign = query.isDescending ? "-" : "+"
    switch query.order {
    case .md5: return "m\(sign)\(md5)"
    case .photodate: return "d\(sign)\(md5)\(photodate)"
    case .filename: return "f\(sign)\(md5)\(filename.hexadecimal)"
    }
  }

  /// - Throws: `.invalid` for a cursor that is not of the query's order
  init(cursor: String, _ query: PhotoQuery) throws {
    let error = SatchelError(.invalid, "query: \"after\" is not a cursor of this order")
    let text = Array(cursor.utf8)
    guard text.count >= 34, text[1] == (query.isDescending ? UInt8(ascii: "-") : UInt8(ascii: "+")),
      let md5 = text.withUnsafeBytes({ MD5(digitsOf: $0, at: 2, lowerOnly: true) })
    else { throw error }
    self.init(md5: md5)
    let rest = text[34...]
    switch (text[0], query.order) {
    case (UInt8(ascii: "m"), .md5): guard rest.isEmpty else { throw error }
    case (UInt8(ascii: "d"), .photodate):
      guard let date = Int64(String(decoding: rest, as: UTF8.self)), rest.first != UInt8(ascii: "+") else {
        throw error
      }
      photodate = date
    case (UInt8(ascii: "f"), .filename):
      guard let name = Self.bytes(rest) else { throw error }
      filename = name
    default: throw error
    }
  }

  private static func bytes(_ digits: ArraySlice<UInt8>) -> [UInt8]? {
    var bytes: [UInt8] = []
    var high: UInt8?
    for digit in digits {
      let value: UInt8
      switch digit {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): value = digit - 0x30
      case UInt8(ascii: "a")...UInt8(ascii: "f"): value = digit - 0x57
      default: return nil
      }
      if let first = high {
        bytes.append(first << 4 | value)
        high = nil
      } else {
        high = value
      }
    }
    return high == nil ? bytes : nil
  }
}
