import SatchelCore
import SatchelTesting
import Testing

@testable import SatchelAssets

@Suite("A picture is scaled down")
struct ScaledImageTests {
  /// Of the corners of a stored picture, top left, top right, bottom left and bottom right, those of the upright one,
  /// by the drawings of EXIF.
  private static let upright = ["", "abcd", "badc", "dcba", "cdab", "acbd", "cadb", "dbca", "bdac"]

  private static let colors: [Character: [UInt8]] = [
    "a": [220, 30, 30], "b": [30, 200, 40], "c": [40, 50, 210], "d": [230, 220, 40],
  ]

  /// Returns the letters of the corners' colours.
  private static func corners(_ picture: Picture) -> String {
    let (right, bottom) = (picture.width - 2, picture.height - 2)
    return String(
      [(1, 1), (right, 1), (1, bottom), (right, bottom)].map { x, y in
        let color = picture[x, y]
        return colors.first { zip($0.value, color).allSatisfy { abs(Int($0) - Int($1)) < 24 } }?.key ?? "?"
      })
  }

  private static let stored = Picture(width: 64, height: 48) { x, y in
    colors[Array("abcd")[(y < 24 ? 0 : 2) + (x < 32 ? 0 : 1)]] ?? []
  }

  @Test("and turned as EXIF says; the result has no EXIF", arguments: 1...8, [16, 64])
  func orientation(orientation: Int, longestEdge: Int) throws {
    let exif = PictureFixture.exif(orientation: orientation)
    let pictures = [
      PictureFixture.jpeg(try Self.stored.jpeg(), adding: 0xE1, Array("Exif\0\0".utf8) + exif),
      PictureFixture.png(try Self.stored.png(), adding: "eXIf", exif),
    ]
    for (picture, type) in zip(pictures, ["image/jpeg", "image/png"]) {
      let scaled = try ScaledImage.make(of: picture, longestEdge: longestEdge)
      let decoded = try Picture(decoding: scaled.bytes)
      let isTransposed = orientation >= 5
      let (long, short) = (longestEdge, longestEdge * 3 / 4)
      #expect((decoded.width, decoded.height) == (isTransposed ? (short, long) : (long, short)))
      #expect((scaled.width, scaled.height, scaled.type) == (decoded.width, decoded.height, type))
      #expect(Self.corners(decoded) == Self.upright[orientation], "\(type)")
      let isUnchanged = orientation == 1 && longestEdge == 64
      #expect((scaled.bytes == picture) == isUnchanged)
      #expect(isUnchanged || !scaled.bytes.contains("Exif") && !scaled.bytes.contains("eXIf"))
    }
  }

  @Test(
    "in its shape, to at least one pixel",
    arguments: [
      ((64, 48), 32, (32, 24)), ((64, 48), 33, (33, 25)), ((64, 48), 1, (1, 1)), ((500, 2), 100, (100, 1)),
      ((2, 500), 499, (2, 499)), ((3, 300), 4, (1, 4)), ((801, 600), 400, (400, 300)),
    ])
  func sizes(size: (Int, Int), longestEdge: Int, expected: (Int, Int)) throws {
    let picture = Picture(width: size.0, height: size.1) { x, y in [UInt8(x & 255), UInt8(y & 255), 7] }
    for file in [try picture.jpeg(), try picture.png()] {
      let scaled = try ScaledImage.make(of: file, longestEdge: longestEdge)
      let decoded = try Picture(decoding: scaled.bytes)
      #expect((decoded.width, decoded.height) == expected)
      #expect((scaled.width, scaled.height) == expected)
    }
  }

  @Test("never up: one that is not larger is the same file", arguments: [64, 65, 100_000])
  func noUpscaling(longestEdge: Int) throws {
    for file in [try Self.stored.jpeg(), try Self.stored.png(), try PictureFixture.read("photos/cmyk.jpg")] {
      let scaled = try ScaledImage.make(of: file, longestEdge: longestEdge)
      #expect(scaled.bytes == file)
      #expect(scaled.width >= 48 && scaled.width <= 64)
    }
  }

  @Test("whatever the kind of PNG", arguments: PictureFixture.pngs)
  func kinds(name: String) throws {
    let scaled = try ScaledImage.make(of: try PictureFixture.png(name), longestEdge: 8)
    let decoded = try Picture(decoding: scaled.bytes)
    let (left, right) = (decoded[1, 1], decoded[6, 2])
    let expected: ([UInt8], [UInt8])
    switch name {
    case "gray-1": expected = ([255], [0])
    case "gray-8", "gray-16": expected = ([200], [90])
    case "gray-alpha", "gray-transparent": expected = ([200, 255], [0, 0])
    case "palette": expected = ([255, 0, 0], [0, 0, 255])
    case "palette-transparent": expected = ([255, 0, 0, 255], [0, 0, 0, 0])
    case "rgb-transparent": expected = ([200, 40, 20, 255], [0, 0, 0, 0])
    case let name where name.hasPrefix("rgba"): expected = ([200, 40, 20, 255], [10, 60, 220, 51])
    default: expected = ([200, 40, 20], [10, 60, 220])
    }
    #expect((decoded.width, decoded.height) == (8, 4))
    #expect(left == expected.0 && right == expected.1, "\(left) \(right)")
  }

  @Test("whatever the kind of JPEG", arguments: ["baseline", "progressive", "cmyk"])
  func jpegs(name: String) throws {
    let file = try PictureFixture.read("photos/\(name).jpg")
    let decoded = try Picture(decoding: try ScaledImage.make(of: file, longestEdge: 24, quality: 95).bytes)
    #expect((decoded.width, decoded.height, decoded.channels) == (24, 16, 3))
    for ((x, y), color) in [((2, 2), [26, 40, 129]), ((20, 14), [202, 223, 128])] {
      #expect(zip(decoded[x, y], color).allSatisfy { abs(Int($0) - $1) <= 12 }, "\(decoded[x, y])")
    }
    let gray = Picture(width: 32, height: 32) { x, _ in [x < 16 ? 220 : 30] }
    let scaled = try Picture(decoding: try ScaledImage.make(of: try gray.jpeg(), longestEdge: 8).bytes)
    #expect(scaled.channels == 1 && scaled[1, 1][0] > 200 && scaled[6, 6][0] < 50)
  }

  @Test("and keeps its colour profile, without which its colours would be others")
  func profile() throws {
    let profile = Array("ICC_PROFILE\0\u{1}\u{1}".utf8) + [UInt8](repeating: 0x2A, count: 500)
    let comment = Array("taken at home".utf8)
    let file = PictureFixture.jpeg(
      PictureFixture.jpeg(try Self.stored.jpeg(), adding: 0xFE, comment), adding: 0xE2, profile)
    let scaled = try ScaledImage.make(of: file, longestEdge: 16)
    #expect(scaled.bytes.contains(profile) && !scaled.bytes.contains(comment))
    #expect(Self.corners(try Picture(decoding: scaled.bytes)) == "abcd")
    #expect(try scaled.bytes.withUnsafeBytes { try JPEGStructure($0) }.profile.count == profile.count + 4)
    // One without measure is left out.
    let long = [UInt8](repeating: 0x2A, count: 60_000)
    let large = (1...2).reduce(try Self.stored.jpeg()) { file, number in
      PictureFixture.jpeg(file, adding: 0xE2, Array("ICC_PROFILE\0".utf8) + [UInt8(number), 2] + long)
    }
    #expect(try ScaledImage.make(of: large, longestEdge: 16).bytes.count < 2_000)
  }

  @Test("without fringes of what is transparent")
  func fringes() throws {
    // Red, and green that nobody sees; the edge is within a pixel of the result.
    let edge = Picture(width: 30, height: 30) { x, _ in x < 13 ? [255, 0, 0, 255] : [0, 255, 0, 0] }
    let decoded = try Picture(
      decoding: try ScaledImage.make(of: try edge.png(), longestEdge: 10).bytes)
    for x in 0..<10 where decoded[x, 5][3] > 0 { #expect(decoded[x, 5].prefix(3) == [255, 0, 0], "\(x)") }
    #expect(decoded[3, 5][3] == 255 && decoded[4, 5][3] == 85 && decoded[5, 5] == [0, 0, 0, 0])
  }

  @Test("to the mean of the area of each pixel", arguments: [1, 2, 3, 4])
  func means(channels: Int) throws {
    var random = SeededRandom(seed: UInt64(channels))
    for _ in 0..<60 {
      let (width, height) = (1 + random.below(40), 1 + random.below(40))
      let picture = Picture(
        width: width, height: height, channels: channels,
        samples: (0..<(width * height * channels)).map { _ in UInt8(random.below(256)) })
      let (columns, rows) = (1 + random.below(width), 1 + random.below(height))
      let reduced = try picture.reduced(columns, rows)
      let expected = Self.mean(of: picture, columns, rows)
      let distance = zip(reduced.samples, expected).map { abs(Double($0) - $1) }.max() ?? 0
      #expect(distance <= 1.5, "\(width) × \(height) to \(columns) × \(rows): \(distance)")
    }
    for value in [0, 1, 127, 254, 255] as [UInt8] {
      let plain = Picture(width: 37, height: 23) { _, _ in
        (0..<channels).map { channels % 2 == 0 && $0 == channels - 1 ? 255 : value }
      }
      #expect(Set(try plain.reduced(10, 7).samples).isSubset(of: [value, 255]))
    }
  }

  /// The same, as one would write it down.
  private static func mean(of picture: Picture, _ columns: Int, _ rows: Int) -> [Double] {
    let (channels, hasAlpha) = (picture.channels, picture.channels % 2 == 0)
    func overlap(_ index: Int, _ output: Int, _ from: Int, _ to: Int) -> Double {
      let (start, end) = (Double(output * from) / Double(to), Double((output + 1) * from) / Double(to))
      return max(min(end, Double(index + 1)) - max(start, Double(index)), 0)
    }
    return (0..<rows).flatMap { row in
      (0..<columns).flatMap { column in
        var (sums, weights) = ([Double](repeating: 0, count: channels), 0.0)
        for y in 0..<picture.height {
          for x in 0..<picture.width {
            let weight =
              overlap(x, column, picture.width, columns) * overlap(y, row, picture.height, rows)
            guard weight > 0 else { continue }
            let pixel = picture[x, y].map { Double($0) }
            let opacity = hasAlpha ? pixel[channels - 1] : 1
            for channel in 0..<channels {
              let isOpacity = hasAlpha && channel == channels - 1
              sums[channel] += weight * pixel[channel] * (isOpacity ? 1 : opacity)
            }
            weights += weight
          }
        }
        let opacity = hasAlpha ? sums[channels - 1] : weights
        return (0..<channels).map { channel in
          if hasAlpha, channel == channels - 1 { return sums[channel] / weights }
          return opacity > 0 ? sums[channel] / opacity : 0
        }
      }
    }
  }
}

extension [UInt8] {
  fileprivate func contains(_ text: String) -> Bool { contains(Array(text.utf8)) }

  fileprivate func contains(_ part: [UInt8]) -> Bool {
    indices.contains { self[$0] == part.first && self[$0...].starts(with: part) }
  }
}
