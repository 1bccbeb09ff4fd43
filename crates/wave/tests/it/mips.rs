//! Stores to levels of an image: texels that exist are written where the level has them, others nowhere.

use crate::harness::{CPUS, Machine, Random};
use crate::images::{Resource, memory};
use wavemill_wave::{Event, Simd};

#[test]
fn stores_to_levels() {
    let mut random = Random(39);
    for cpu in CPUS {
        let text = "image_store_mip v8, v[0:2], s[8:15] dmask:1 unorm";
        let mut machine = Machine::new(cpu, Simd::detect(), text, 0);
        let (size, pitch) = ([20u32, 12], 64);
        // gfx90a's instructions with a level may only name level 0 (manual 12.15).
        let levels = if cpu == "gfx90a" { [0, 0] } else { [1, 3] };
        let mut want = vec![0x5555_5555u32; 64 * 40];
        let bytes: Vec<u8> = want.iter().flat_map(|w| w.to_le_bytes()).collect();
        let base = memory(&mut machine, &bytes);
        let mut wave = machine.wave();
        let resource = Resource::new(base, 9, 4, 4, [size[0], size[1], 1]);
        Resource { pitch, levels, ..resource }.set(&mut wave, cpu);
        let exec = 0x7fff_fff3_ffff_ffff;
        wave.set_exec(exec);
        for lane in 0..64 {
            // No texel twice: every lane has a row of a level to itself.
            let (y, relative) = (lane as u32 / 5, lane as u32 % 5);
            let level = relative + levels[0];
            let [width, height] = size.map(|n| (n >> level).max(1));
            let x = if lane == 7 { 0xffff_fff0 } else { random.below(width as u64 + 1) as u32 };
            for (r, v) in [(0, x), (1, y), (2, relative), (8, 0x1000 + lane as u32)] {
                wave.vgpr_mut(r).unwrap()[lane] = v;
            }
            if exec >> lane & 1 != 0 && level <= levels[1] && x < width && y < height {
                // Rows of every level are as long as a row of 256 bytes, which is the least there is.
                let before: u32 = (0..level).map(|l| pitch * (size[1] >> l).max(1)).sum();
                want[(before + y * pitch + x) as usize] = 0x1000 + lane as u32;
            }
        }
        assert!(want.iter().filter(|w| **w != 0x5555_5555).count() > 5, "{cpu}");
        assert_eq!(machine.run(&mut wave), Event::End, "{cpu}");
        let got = machine.read(base, bytes.len());
        let got: Vec<u32> = got.as_chunks::<4>().0.iter().map(|w| u32::from_le_bytes(*w)).collect();
        assert_eq!(got, want, "{cpu}");
    }
}
