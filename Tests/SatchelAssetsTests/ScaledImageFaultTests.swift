import CImages
import SatchelCore
import SatchelTesting
import Testing

@testable import SatchelAssets

@Suite("A picture that cannot be scaled")
struct ScaledImageFaultTests {
  private static func error(_ file: [UInt8], longestEdge: Int = 8, quality: Int = 82) -> SatchelError? {
    do {
      _ = try ScaledImage.make(of: file, longestEdge: longestEdge, quality: quality)
      return nil
    } catch { return error as? SatchelError }
  }

  private static func files() throws -> [[UInt8]] {
    try ["baseline.jpg", "progressive.jpg", "cmyk.jpg"].map { try PictureFixture.read("photos/\($0)") }
      + ["gray-alpha", "palette-transparent", "rgba-16", "rgb-interlaced"].map { try PictureFixture.png($0) }
  }

  @Test("is of another format: the message asks for a function of the host")
  func otherFormats() throws {
    let files = try ["small.webp", "small.heic"].map { try PictureFixture.read("photos/\($0)") }
    for file in files + [[], [0], Array("GIF89a".utf8), [0xFF, 0xD8], [UInt8](repeating: 0xFF, count: 100)] {
      let error = try #require(Self.error(file))
      #expect(error.code == .invalid && error.message.contains("function"), "\(error)")
    }
  }

  @Test("is an argument out of range", arguments: [(0, 82), (-1, 82), (8, 0), (8, 101)])
  func arguments(longestEdge: Int, quality: Int) throws {
    let file = try PictureFixture.png("rgb")
    #expect(Self.error(file, longestEdge: longestEdge, quality: quality)?.code == .invalid)
  }

  @Test("is cut off, at any byte", arguments: 0..<7)
  func truncated(index: Int) throws {
    let file = try Self.files()[index]
    for count in file.indices {
      #expect(Self.error(Array(file[..<count]))?.code == .invalid, "\(count) bytes")
      // Also where it would be returned as it is.
      #expect(Self.error(Array(file[..<count]), longestEdge: 1_000)?.code == .invalid, "\(count) bytes")
    }
  }

  @Test("has lost its pixels, though not its end")
  func withoutPixels() throws {
    let file = try PictureFixture.read("photos/baseline.jpg")
    let scan = try #require(file.indices.first { file[$0] == 0xFF && file[$0 + 1] == 0xDA })
    let cut = Array(file[..<(scan + 20)]) + [0xFF, 0xD9]
    // Of a PNG: no byte of data, data of another format, and a compressed nothing.
    let pngs = [[], [1, 2, 3], [0x78, 0x9C, 0x03, 0, 0, 0, 0, 1]].map { (data: [UInt8]) in
      let header = PictureFixture.number(16) + PictureFixture.number(16) + [8, 6, 0, 0, 0]
      return PNGStructure.signature + PictureFixture.chunk("IHDR", header)
        + PictureFixture.chunk("IDAT", data)
        + PictureFixture.chunk("IEND", [])
    }
    for file in [cut] + pngs {
      let error = try #require(Self.error(file))
      #expect(error.code == .invalid && error.message.contains("damaged"), "\(error)")
    }
  }

  @Test("has wrong bytes: it is an error or a picture, and nothing worse", arguments: 0..<7)
  func damaged(index: Int) throws {
    let file = try Self.files()[index]
    var random = SeededRandom(seed: UInt64(index))
    for _ in 0..<400 {
      var damaged = file
      for _ in 0...random.below(6) {
        let place = random.below(damaged.count)
        if random.chance(80) {
          damaged[place] = UInt8(random.below(256))
        } else {
          damaged.removeSubrange(place..<min(place + random.below(20), damaged.count))
        }
      }
      if let error = Self.error(damaged) { #expect(error.code == .invalid, "\(error)") }
    }
  }

  @Test("claims to be huge: it is refused before it is decoded")
  func bombs() throws {
    func png(_ width: UInt32, _ height: UInt32) -> [UInt8] {
      let header = PictureFixture.number(width) + PictureFixture.number(height) + [8, 6, 0, 0, 0]
      return PNGStructure.signature + PictureFixture.chunk("IHDR", header)
        + PictureFixture.chunk("IDAT", [0x78, 0x9C, 0x63, 0, 1]) + PictureFixture.chunk("IEND", [])
    }
    // Of no size at all, of too many pixels, and of too much memory.
    for (width, height) in [(60_000, 60_000), (.max, .max), (8_000, 9_000)] as [(UInt32, UInt32)] {
      let error = try #require(Self.error(png(width, height)))
      #expect(error.code == .invalid && error.message.contains("at most"), "\(error)")
      #expect(error.details.limit != nil)
    }
    #expect(Self.error(png(0, 5))?.message.contains("no size") == true)
    // A JPEG's header, in the first frame.
    for name in ["baseline", "progressive"] {
      var jpeg = try PictureFixture.read("photos/\(name).jpg")
      let frame = try #require(
        jpeg.indices.first { jpeg[$0] == 0xFF && [0xC0, 0xC2].contains(jpeg[$0 + 1]) })
      jpeg.replaceSubrange((frame + 5)..<(frame + 9), with: [0xFF, 0xDC, 0xFF, 0xDC])
      #expect(Self.error(jpeg)?.details.limit == Int64(ScaledImage.maxPixels))
      // 99 megapixels, whose coefficients a progressive one keeps.
      jpeg.replaceSubrange((frame + 5)..<(frame + 9), with: [0x26, 0xAC, 0x27, 0x10])
      #expect((Self.error(jpeg)?.details.limit == Int64(ScaledImage.maxMemory)) == (name == "progressive"))
    }
  }

  @Test("has more scans than anybody needs")
  func scans() throws {
    var jpeg = try PictureFixture.read("photos/progressive.jpg")
    let frame = try #require(jpeg.indices.first { jpeg[$0] == 0xFF && jpeg[$0 + 1] == 0xC2 })
    // 16 megapixels.
    jpeg.replaceSubrange((frame + 5)..<(frame + 9), with: [0x0F, 0xA0, 0x0F, 0xA0])
    let start = try #require(jpeg.indices.first { jpeg[$0] == 0xFF && jpeg[$0 + 1] == 0xDA })
    let scan = Array(jpeg[start...].prefix(2 + Int(jpeg[start + 3])))
    let file = Array(jpeg[..<start]) + [[UInt8]](repeating: scan, count: 200).flatMap { $0 } + jpeg[start...]
    #expect(Self.error(file)?.message.contains("scans") == true)
  }

  @Test("needs a library that is missing: the message names its package")
  func missingLibraries() {
    var message = [CChar](repeating: 0, count: Int(CIMAGES_MESSAGE))
    func text() -> String {
      String(decoding: message.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
    for name in ["libnothing-of-this-name.so", "libc.so.6"] {
      #expect(!cimages_can_load_jpeg(name, &message))
      #expect(text().contains("libturbojpeg0"))
      #expect(!cimages_can_load_png(name, &message))
      #expect(text().contains("libpng16-16"))
    }
  }
}
