/// What the fields of a row say.
extension ShardReader {
  /// Whether the fields name the columns: "md5", then words, as many as a row has.
  func isHeader(_ count: Int) -> Bool {
    guard (7...ShardReader.columns).contains(count), let first = fields.first, first.end - first.start == 3
    else { return false }
    let names = fields.map { ShardRow.text($0, in: bytes[within: 0..<$0.end]) }
    return names.first?.lowercased() == "md5"
      && names.allSatisfy { name in
        name.utf8.count <= 40
          && name.utf8.contains { ShardReader.isLetter($0) }
          && name.utf8.allSatisfy { byte in
            ShardReader.isLetter(byte) || byte &- 0x30 < 10 || " _-.()".utf8.contains(byte)
          }
      }
  }

  /// The row that the fields make, of whatever shard.
  func interpret(_ range: Range<Int>, count: Int) -> Result<ShardRow, RowFault> {
    guard (7...ShardReader.columns).contains(count), fields.count == count else { return .failure(.columns) }
    let identifier = count > 7 ? fields[7] : .none
    guard fields[0].end - fields[0].start == 32,
      let md5 = MD5(digitsOf: bytes, at: fields[0].start, lowerOnly: false)
    else { return .failure(.md5) }
    guard isText(fields[1].start..<fields[1].end) else { return .failure(.filename) }
    guard let size = ShardNumber.whole(content(2)) else { return .failure(.size) }
    guard let photodate = ShardNumber.seconds(content(3)) else { return .failure(.photodate) }
    guard let modified = ShardNumber.seconds(content(4)) else { return .failure(.modified) }
    let width = ShardNumber.whole(content(5))
    guard width != nil || content(5).isEmpty else { return .failure(.width) }
    let height = ShardNumber.whole(content(6))
    guard height != nil || content(6).isEmpty else { return .failure(.height) }
    guard isText(identifier.start..<identifier.end) else { return .failure(.applePhotoID) }
    var row = ShardRow(
      md5: md5, start: range.lowerBound, end: range.upperBound, line: line, filename: fields[1], size: size,
      photodate: photodate, modified: modified, width: width, height: height, applePhotoID: identifier,
      isCanonical: false)
    var canonical: [UInt8] = []
    ShardWriter.write(row.photo(in: bytes), into: &canonical)
    row.isCanonical = canonical.elementsEqual(bytes[within: range])
    return .success(row)
  }

  private func content(_ column: Int) -> UnsafeRawBufferPointer {
    bytes[within: fields[column].start..<fields[column].end]
  }

  private static func isLetter(_ byte: UInt8) -> Bool { (byte | 0x20) &- 0x61 < 26 }
}
