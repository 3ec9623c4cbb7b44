import SatchelCore

/// The pages of a database file in any condition (SQLite file format, chapter 1).
final class PageFile {
  let size: Int
  /// The usable bytes of a page, without its reserved space.
  let usable: Int
  let count: Int
  private let file: DiskFile

  init(_ path: String) throws {
    file = try DiskFile(path, O_RDONLY)
    let header = try file.read(100)
    let stated = header.count == 100 ? Int(header[16]) << 8 | Int(header[17]) : 0
    let size = stated == 1 ? 65536 : stated
    self.size = size >= 512 && size & (size - 1) == 0 ? size : 4096
    let reserved = header.count == 100 ? Int(header[20]) : 0
    usable = self.size - (reserved <= 32 ? reserved : 0)
    count = Int((Int64(try file.status().st_size) + Int64(self.size) - 1) / Int64(self.size))
  }

  /// Returns a page by its number, from 1 on; nil for a page that is missing or incomplete.
  func page(_ number: Int) throws -> [UInt8]? {
    guard number >= 1, number <= count else { return nil }
    let bytes = try file.read(size, at: Int64(number - 1) * Int64(size))
    return bytes.count == size ? bytes : nil
  }

  /// Returns a page's entry in the pointer map: its kind and its parent.
  func pointer(to number: Int) throws -> (kind: UInt8, parent: Int)? {
    let run = usable / 5 + 1
    guard number > 2 else { return nil }
    let map = (number - 2) / run * run + 2
    guard map != number, let page = try page(map) else { return nil }
    let offset = 5 * (number - map - 1)
    guard offset >= 0, offset + 5 <= usable else { return nil }
    return (page[offset], page.number(4, at: offset + 1))
  }
}

extension [UInt8] {
  /// Returns a big-endian integer of `count` bytes; 0 past the end.
  func number(_ count: Int, at offset: Int) -> Int {
    guard offset >= 0, offset + count <= self.count else { return 0 }
    return self[offset..<offset + count].reduce(0) { $0 << 8 | Int($1) }
  }

  /// Returns a SQLite varint of 1 to 9 bytes; nil past the end.
  func varint(at offset: Int) -> (value: Int64, length: Int)? {
    var value: UInt64 = 0
    for index in 0..<9 {
      guard offset + index < count, offset >= 0 else { return nil }
      let byte = self[offset + index]
      if index == 8 { return (Int64(bitPattern: value << 8 | UInt64(byte)), 9) }
      value = value << 7 | UInt64(byte & 0x7F)
      if byte & 0x80 == 0 { return (Int64(bitPattern: value), index + 1) }
    }
    return nil
  }
}
