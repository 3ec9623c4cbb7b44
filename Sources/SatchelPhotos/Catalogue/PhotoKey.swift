import SatchelStorage

/// A photo's place in an order.
struct PhotoKey: Equatable {
  /// Of the order by photodate; else 0.
  var photodate: Int64 = 0
  /// Of the order by filename; else empty.
  var filename: [UInt8] = []
  var md5: MD5

  static func precedes(_ left: PhotoKey, _ right: PhotoKey) -> Bool {
    if left.photodate != right.photodate { return left.photodate < right.photodate }
    if left.filename != right.filename { return left.filename.lexicographicallyPrecedes(right.filename) }
    return left.md5 < right.md5
  }
}

extension PhotoKey {
  /// A key of an order, as text for those who only give it back.
  func cursor(_ query: PhotoQuery) -> String {
    let mark = query.isDescending ? "-" : "+"
    switch query.order {
    case .md5: return "m\(mark)\(md5)"
    case .photodate: return "d\(mark)\(md5)\(photodate)"
    case .filename: return "f\(mark)\(md5)\(filename.hexadecimal)"
    }
  }

  /// - Throws: `.invalid` for what is no cursor of the query's order
  init(cursor: String, _ query: PhotoQuery) throws {
    let error = SatchelError(.invalid, "query: \"after\" is none of this order")
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
