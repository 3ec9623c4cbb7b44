import SatchelCore

/// The index of a device's files, from which a bucket alone gives a library back: names, folders and dates of what
/// `photos/{user}/` has under its MD5.
///
/// `photo-index/{user}/{device}.csv` has a line for each file: path, md5, size, modified (Unix seconds), kind ("photo",
/// "film", "sidecar"), and for films and sidecars the md5 of their photo. The lines are in the order of their paths,
/// written as RFC 4180 says, and joined by line feeds. Where they would be more than 4 MiB they are in parts, each of
/// the files whose md5 begins with the digits in its name: `{device}.a.csv`.
enum BackupIndex {
  /// The maximum size of a part.
  static let maxPart = 4 << 20
  /// The maximum size of an object that is read as one.
  static let maxObject = 4 * maxPart
  /// More digits would be parts of a few files.
  private static let maxDigits = 4

  /// A file of a device.
  struct Row: Sendable, Equatable {
    var path: String
    var md5: MD5
    var size: Int64
    /// Unix seconds.
    var modified: Int64
    var kind: FileKind
    /// The photo that a film or a sidecar belongs to.
    var photo: MD5?
  }

  /// Returns the parts, by the digits in their names; empty for the only part.
  ///
  /// - Parameter visit: calls its argument with each file, in the order of their paths; called twice
  static func parts(
    maxPart: Int = maxPart, _ visit: ((Row) throws -> Void) throws -> Void
  ) rethrows -> [String: [UInt8]] {
    // The sizes of the parts with the most digits, and then of those with fewer.
    var (sizes, line) = ([[Int](repeating: 0, count: 1 << (4 * maxDigits))], [UInt8]())
    try visit { row in
      line.removeAll(keepingCapacity: true)
      write(row, into: &line)
      sizes[0][number(row, digits: maxDigits)] += line.count + 1
    }
    while let larger = sizes.last, larger.count > 1 {
      sizes.append(stride(from: 0, to: larger.count, by: 16).map { larger[$0..<$0 + 16].reduce(0, +) })
    }
    let digits = sizes.lastIndex { $0.allSatisfy { $0 <= maxPart + 1 } }.map { maxDigits - $0 } ?? maxDigits
    var parts: [String: [UInt8]] = [:]
    try visit { row in
      let name = String(row.md5.description.prefix(digits))
      if parts[name]?.append(UInt8(ascii: "\n")) == nil {
        parts[name] = []
        parts[name]?.reserveCapacity(sizes[maxDigits - digits][number(row, digits: digits)])
      }
      write(row, into: &parts[name, default: []])
    }
    return parts
  }

  /// The first digits of a file's MD5 as a number.
  private static func number(_ row: Row, digits: Int) -> Int {
    Int(row.md5.high >> (64 - 4 * UInt64(digits)))
  }

  private static func write(_ row: Row, into bytes: inout [UInt8]) {
    let comma = UInt8(ascii: ",")
    ShardWriter.write(row.path, into: &bytes)
    bytes.append(comma)
    row.md5.write(into: &bytes)
    bytes.append(comma)
    ShardNumber.write(row.size, into: &bytes)
    bytes.append(comma)
    ShardNumber.write(row.modified, into: &bytes)
    bytes.append(contentsOf: ",\(row.kind.rawValue),".utf8)
    row.photo?.write(into: &bytes)
  }

  /// Reads a part.
  ///
  /// - Returns: the files, and the number of lines that are not files
  static func read(_ bytes: [UInt8]) -> (rows: [Row], rejected: Int) {
    guard !bytes.isEmpty else { return ([], 0) }
    var (rows, rejected) = ([Row](), 0)
    var position = 0
    while position < bytes.count {
      if let row = fields(bytes, &position).flatMap(row) { rows.append(row) } else { rejected += 1 }
    }
    return (rows, rejected)
  }

  /// Reads the fields of a line, and moves behind its end.
  ///
  /// - Returns: nil for quotes that are not as RFC 4180 says
  private static func fields(_ bytes: [UInt8], _ position: inout Int) -> [[UInt8]]? {
    let (quote, feed) = (UInt8(ascii: "\""), UInt8(ascii: "\n"))
    var (fields, field, isQuoted, isValid) = ([[UInt8]](), [UInt8](), false, true)
    while position < bytes.count {
      let byte = bytes[position]
      position += 1
      if isQuoted {
        guard byte == quote else {
          field.append(byte)
          continue
        }
        if position < bytes.count, bytes[position] == quote {
          field.append(quote)
          position += 1
        } else {
          isQuoted = false
        }
      } else if byte == quote {
        isQuoted = field.isEmpty
        isValid = isValid && isQuoted
      } else if byte == UInt8(ascii: ",") || byte == feed {
        fields.append(field)
        field = []
        if byte == feed { return isValid ? fields : nil }
      } else if byte != UInt8(ascii: "\r") || position < bytes.count && bytes[position] != feed {
        field.append(byte)
      }
    }
    return isValid && !isQuoted ? fields + [field] : nil
  }

  private static func row(_ fields: [[UInt8]]) -> Row? {
    guard fields.count >= 6, let path = String(validating: fields[0], as: UTF8.self),
      let md5 = MD5(String(decoding: fields[1], as: UTF8.self)),
      let size = fields[2].withUnsafeBytes({ ShardNumber.whole($0) }),
      let modified = fields[3].withUnsafeBytes({ ShardNumber.seconds($0) }),
      let kind = FileKind(rawValue: String(decoding: fields[4], as: UTF8.self))
    else { return nil }
    return Row(
      path: path, md5: md5, size: size, modified: modified, kind: kind,
      photo: MD5(String(decoding: fields[5], as: UTF8.self)))
  }

  /// Whether a path of an index leads to a file below a directory: no absolute path, no ".." in it.
  static func isSafe(_ path: String) -> Bool {
    let names = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    return names.count <= 256
      && names.allSatisfy { name in
        (1...255).contains(name.count) && !name.contains(0) && !name.elementsEqual(".".utf8)
          && !name.elementsEqual("..".utf8)
      }
  }
}
