import SatchelCore

/// A row of `photo_date`: photos of a version that are consecutive in the order by date.
struct DateRow: Equatable {
  /// The number of photos from which a row is full: its bytes are then those of a page.
  static let size = 500

  /// The number of photos of the version that are before these.
  var start: Int64
  /// The date of the first.
  var earliest: Int64
  /// Whether seconds take eight bytes.
  var isWide: Bool
  /// For each photo the seconds after `earliest`, in four bytes, and the last 32 bits of its place, in four bytes;
  /// both are little-endian.
  var bytes: [UInt8] = []

  /// The bytes of a photo.
  private var width: Int { isWide ? 12 : 8 }

  var count: Int { bytes.count / width }

  /// Whether the row can be one of a version with so many photos.
  func isValid(in photos: Int64) -> Bool {
    !bytes.isEmpty && bytes.count % width == 0 && start >= 0 && start <= photos - Int64(count)
  }

  /// Returns a photo; nil when its date is out of range.
  ///
  /// - Parameter index: less than `count`
  func entry(_ index: Int, of shard: Shard.Index) -> DateEntry? {
    bytes.withUnsafeBytes { bytes in
      let offset = index * width
      guard index >= 0, offset + width <= bytes.count else { return nil }
      let place = UInt32(
        littleEndian: bytes.loadUnaligned(fromByteOffset: offset + width - 4, as: UInt32.self))
      let seconds =
        isWide
        ? UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
        : UInt64(UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)))
      let date = earliest &+ Int64(truncatingIfNeeded: seconds)
      guard date >= earliest else { return nil }
      return DateEntry(date: date, place: UInt64(truncatingIfNeeded: shard.number) << 32 | UInt64(place))
    }
  }

  /// The bucket of the last date, by which the row is found; nil when the date is out of range.
  var bucket: Int64? {
    entry(count - 1, of: Shard.Index(firstDigitOf: MD5(place: 0))).map { Self.bucket(of: $0.date) }
  }

  /// Returns the index of the first photo that is not before a bound.
  func index(of bound: DateEntry, of shard: Shard.Index) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if let entry = entry(middle, of: shard), entry < bound { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// Returns the bucket of a date: 2 seconds from 1833 to 2106; before and after, all.
  static func bucket(of date: Int64) -> Int64 { min(max(0, (date >> 1) + 1 << 31), 0xFFFF_FFFF) }
}

extension DateRow {
  /// Returns the rows of a version. No bucket continues in the next row.
  ///
  /// - Parameter entries: the version's photos, in the order of their md5
  static func rows(of entries: [ShardContent.Entry]) -> [DateRow] {
    let sorted = Dated.sorted(entries)
    var rows: [DateRow] = []
    var start = 0
    while start < sorted.count {
      var end = min(start + size, sorted.count)
      while end < sorted.count, bucket(of: sorted[end].date) == bucket(of: sorted[end - 1].date) { end += 1 }
      rows.append(row(sorted[start..<end]))
      start = end
    }
    return rows
  }

  private static func row(_ photos: ArraySlice<Dated>) -> DateRow {
    let (earliest, latest) = (photos.first?.date ?? 0, photos.last?.date ?? 0)
    var row = DateRow(
      start: Int64(photos.startIndex), earliest: earliest,
      isWide: UInt64(bitPattern: latest &- earliest) > UInt64(UInt32.max))
    let width = row.width
    row.bytes = [UInt8](unsafeUninitializedCapacity: photos.count * width) { buffer, count in
      let bytes = UnsafeMutableRawBufferPointer(buffer)
      for photo in photos {
        let seconds = UInt64(bitPattern: photo.date &- earliest)
        if width == 12 {
          bytes.storeBytes(of: seconds.littleEndian, toByteOffset: count, as: UInt64.self)
        } else {
          bytes.storeBytes(
            of: UInt32(truncatingIfNeeded: seconds).littleEndian, toByteOffset: count, as: UInt32.self)
        }
        bytes.storeBytes(of: photo.place.littleEndian, toByteOffset: count + width - 4, as: UInt32.self)
        count += width
      }
    }
    return row
  }
}

/// A photo's date, and the last 32 bits of its place.
private struct Dated {
  var date: Int64
  var place: UInt32

  /// Sorts photos by date; those of one date stay in their order.
  static func sorted(_ entries: [ShardContent.Entry]) -> [Dated] {
    let dated = entries.map {
      Dated(date: $0.photodate, place: UInt32(truncatingIfNeeded: $0.md5.place))
    }
    guard let earliest = dated.lazy.map(\.date).min(), let latest = dated.lazy.map(\.date).max() else {
      return []
    }
    // By digits and not by comparisons, since an import sorts all photos.
    var (one, other) = (dated, dated)
    let bits = UInt64.bitWidth - UInt64(bitPattern: latest &- earliest).leadingZeroBitCount
    for shift in stride(from: 0, to: bits, by: digit) {
      distribute(one, into: &other, from: earliest, shift: shift)
      swap(&one, &other)
    }
    return one
  }

  /// The bits by which a pass sorts.
  private static let digit = 11

  /// Sorts by some bits of the seconds after the earliest date; equal ones stay in their order.
  private static func distribute(
    _ source: [Dated], into target: inout [Dated], from earliest: Int64, shift: Int
  ) {
    let mask: UInt64 = 1 << digit - 1
    var positions = [Int](repeating: 0, count: 1 << digit)
    source.withUnsafeBufferPointer { source in
      target.withUnsafeMutableBufferPointer { target in
        positions.withUnsafeMutableBufferPointer { positions in
          for photo in source {
            positions[Int(UInt64(bitPattern: photo.date &- earliest) >> shift & mask)] += 1
          }
          var sum = 0
          for index in positions.indices {
            (positions[index], sum) = (sum, sum + positions[index])
          }
          for photo in source {
            let bucket = Int(UInt64(bitPattern: photo.date &- earliest) >> shift & mask)
            target[positions[bucket]] = photo
            positions[bucket] += 1
          }
        }
      }
    }
  }
}
